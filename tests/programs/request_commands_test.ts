// Further commands that `agent.ts` and `computer.ts` share.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scripted } from "../fixtures/stdio_config.ts";
import { CONFIG, D, Doors, echo, SCHEMA } from "../integration/_request_commands.ts";
import { terminals } from "../integration/_terminal.ts";

Deno.test("agent.ts and computer.ts print a tool's schema as JSON", async () => {
  await using doors = await Doors.open();
  const { tools, ...rest } = JSON.parse((await doors.run(["tools", "echo", "--json"])).stdout);
  assertEquals([rest, tools.length, tools[0].params_schema], [{ computer: "laptop" }, 1, SCHEMA]);
});

/** The commands whose answer is a list, and what they say of an empty one. */
const EMPTY_LISTS: readonly { readonly words: readonly string[]; readonly what: string }[] = [
  { words: ["tools"], what: "no tools" },
  { words: ["desktop"], what: "no windows" },
  { words: ["desktop", "--window", "window://log"], what: "no windows match window://log" },
  { words: ["finder"], what: "no documents" },
  { words: ["finder", "--keyword", "money"], what: "no documents match in titles, keywords and summaries" },
  { words: ["finder", "--file-type", "zip"], what: 'no documents are of the type "zip"' },
  {
    words: ["finder", "--file-type", "zip", "--keyword", "money"],
    what: 'no documents match in titles, keywords and summaries and are of the type "zip"',
  },
];

Deno.test("an empty list says that MCP servers are still starting", async () => {
  await using doors = await Doors.open({ servers: { slow: scripted({ hang: ["initialize"] }) } });
  for (const { words, what } of EMPTY_LISTS) {
    const { agent, computer } = await doors.runEach(words);
    // A search may have missed what that server has.
    const code = words.length > 1 ? 1 : 0;
    assertEquals([computer.code, computer.stdout], [code, `${what}: server "slow" is starting\n`]);
    assertEquals([agent.code, agent.stdout], [code, `${what}: server "slow" is starting\n`]);
  }
});

Deno.test("computer.ts warns on stderr of a list in which a server that is starting is missing", async () => {
  const servers = { ...CONFIG.servers, slow: scripted({ hang: ["initialize"] }) };
  await using doors = await Doors.open({ servers });
  for (const words of [["tools"], ["desktop"], ["finder"]]) {
    const { agent, computer } = await doors.runEach(words);
    assertEquals([computer.code, computer.stdout], [0, agent.stdout]);
    assertEquals(computer.stderr, 'warning: the list may be incomplete: server "slow" is starting\n');
  }
  const { computer } = await doors.runEach(["finder", "--keyword", "no-such-word"]);
  assertEquals(
    computer.stdout,
    'no documents match in titles, keywords and summaries: server "slow" is starting\n',
  );
  const { computer: json } = await doors.runEach(["tools", "--json"]);
  assertEquals([json.stderr, JSON.parse(json.stdout).warning], [
    "",
    'the list may be incomplete: server "slow" is starting',
  ]);
});

Deno.test("arguments come from a file or from standard input of the process in which call was typed", async () => {
  await using doors = await Doors.open();
  const { place } = doors;
  const file = place.write("args.json", { message: "from a file", times: 1 });
  const text = `${echo({ message: "from a file", times: 2 })}\n`;
  assertEquals((await doors.run(["call", "echo", `--params=@${file}`, "times=2"])).stdout, text);
  const missing = await doors.run(["call", "echo", "--params", `@${file}.not`]);
  assertEquals([missing.code, missing.stdout], [2, ""]);
  assertStringIncludes(missing.stderr, `"${file}.not": no such file`);
  const there = await place.run(["call", "echo", "--params", "@args.json", "times=2"], { cwd: place.folder });
  assertEquals(there.stdout, text);
  const alone = ["call", "echo", "--config", `${place.folder}/config.json`, "--params", "-"];
  const { stdout } = await place.run(alone, { input: '{"message":"piped"}' });
  assertEquals(stdout, `${echo({ message: "piped" })}\n`);
});

/** What is drawn, without colours. */
const PICTURES: readonly { readonly words: readonly string[]; readonly drawn: string }[] = [
  {
    words: ["tools"],
    drawn: `
docs  6 tools
  echo(message: string, times?: integer)
      Says it again
  print()
  raw()
  nap()
  become()
  received()

"tools NAME" shows one tool in full
`,
  },
  {
    words: ["desktop"],
    drawn: `
╭─ window://log ───────────────────────╮
│ safe!                                │
│         ok                           │
╰──────────────────────────────────────╯
`,
  },
  {
    words: ["finder", "--depth", "elements"],
    drawn: `
docs
└─ 年度报告  xlsx  1 page  2026-01-15
   │ 财务
   │ dpe://docs/rpt
   └─ 0  概览  2 elements
      ├─ heading  h-1  总结
      └─ table    t-1  收入
1–1 of 1
`,
  },
  {
    words: ["read", `${D}?depth=pages`],
    drawn: `
└─ 年度报告  xlsx  1 page  2026-01-15
   │ 财务
   │ dpe://docs/rpt
   └─ 0  概览  2 elements
`,
  },
  {
    words: ["read", `${D}/pages/0`],
    drawn: `
总结

季度
Q1
`,
  },
  {
    words: ["read", `${D}/elements/t-1`],
    drawn: `
季度
Q1
`,
  },
  { words: ["read", "config://app", "--mcp-server", "docs"], drawn: '\n{\n  "b": [\n    1\n  ]\n}\n' },
];

Deno.test({
  name: "agent.ts and computer.ts draw the same on a terminal",
  ignore: terminals.length === 0 || Deno.build.os === "windows",
  async fn() {
    await using doors = await Doors.open();
    for (const { words, drawn } of PICTURES) {
      assertEquals(`\n${await doors.draw(words, 46)}`, drawn, words.join(" "));
    }
  },
});
