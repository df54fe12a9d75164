// `tools`, `call`, `desktop`, `finder` and `read`: each case is run by `agent.ts` and by `computer.ts`, which asks a
// Computer that runs; both print the same.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/server.ts";
import { doorWords, runDoor, RunningDoor } from "../fixtures/door.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { Workplace } from "./_computer_program.ts";
import { terminals } from "./_terminal.ts";

/** What a terminal would obey; a pipe gets it as it is. */
const RAW = "\u001b[31mred\u001b[0m\r\n\u0007\u202eend";
const D = "dpe://docs/rpt";
const ELEMENTS = [
  { element_id: "h-1", category: "heading", summary: "总结\u001b[2J", content: { level: 1, text: "总结" } },
  { element_id: "t-1", category: "table", summary: "收入", content: { headers: ["季度"], rows: [["Q1"]] } },
];
const REPORT = {
  doc_ref: "rpt",
  uri: D,
  file_uri: "file:///rpt.xlsx",
  file_type: "xlsx",
  title: "年度报告\u001b]0;pwned\u0007",
  page_count: 1,
  keywords: ["财务"],
  last_modified: "2026-01-15",
};
const PAGE = { page_index: 0, title: "概览", doc_ref: "rpt", elements: ELEMENTS };
const INDEX = [{ page_index: 0, title: "概览", element_count: 2, uri: `${D}/pages/0` }];
const SCHEMA = {
  type: "object",
  properties: { message: { type: "string" }, times: { type: "integer" } },
  required: ["message"],
};
const CONFIG = {
  servers: {
    docs: scripted({
      tools: [
        { name: "echo", description: "Says it again", inputSchema: SCHEMA },
        { name: "print", description: "", inputSchema: { type: "object" } },
        { name: "raw", description: "", inputSchema: { type: "object" } },
        { name: "nap", description: "", inputSchema: { type: "object" } },
      ],
      answers: {
        "tools/call print": { content: [{ type: "text", text: "out of paper" }], isError: true },
        "tools/call raw": { content: [{ type: "text", text: RAW }] },
      },
      hang: ["tools/call nap"],
      resources: [{ uri: "window://log" }, { uri: D }],
      contents: {
        "window://log": "safe\u001b[31m!\n\tok",
        "window://log/raw": RAW,
        [D]: REPORT,
        [`${D}?depth=pages`]: { ...REPORT, pages: INDEX },
        [`${D}?depth=pages&limit=100`]: { ...REPORT, pages: INDEX },
        [`${D}?depth=pages&offset=0&limit=100`]: { ...REPORT, pages: INDEX },
        [`${D}/pages/0`]: PAGE,
        [`${D}/elements/t-1`]: ELEMENTS[1],
        "config://app": '{"b":[1]}',
      },
    }),
  },
};

/** An office with one Computer; either door asks it. */
class Doors implements AsyncDisposable {
  readonly place: Workplace;
  readonly #office: readonly string[];
  readonly #cleanUp: AsyncDisposableStack;

  private constructor(place: Workplace, office: readonly string[], cleanUp: AsyncDisposableStack) {
    this.place = place;
    this.#office = office;
    this.#cleanUp = cleanUp;
  }

  static async open(servers: unknown = CONFIG): Promise<Doors> {
    const cleanUp = new AsyncDisposableStack();
    const place = cleanUp.use(new Workplace());
    const server = cleanUp.use(await SmcpServer.listen({ port: 0 }));
    const office = ["--url", server.url, "--office", "lab"];
    const config = place.write("config.json", servers);
    const running = cleanUp.use(await place.serve([...office, "--name", "laptop", "--config", config]));
    await running.said("joined office");
    return new Doors(place, [...office, "--name", "ada"], cleanUp);
  }

  /** What each door does with a command. */
  async runEach(words: readonly string[], input?: string) {
    const { env } = this.place;
    const options = input === undefined ? { env } : { env, input };
    const [agent, computer] = await Promise.all([
      runDoor("agent.ts", [...this.#office, ...words], options),
      runDoor("computer.ts", words, options),
    ]);
    return { agent, computer };
  }

  /** What both doors do with a command; the test fails unless they do the same. */
  async run(words: readonly string[], input?: string) {
    const { agent, computer } = await this.runEach(words, input);
    assertEquals(agent, computer, `agent.ts and computer.ts differ: ${words.join(" ")}`);
    return agent;
  }

  /** What both doors draw on a terminal. */
  async draw(words: readonly string[], columns: number): Promise<string> {
    const [terminal] = terminals;
    const drawOne = async (command: readonly string[]) => {
      // A dumb terminal shows no progress, whose lines would stand between those that are compared.
      const env = { ...this.place.env, TERM: "dumb" };
      await using program = new RunningDoor(terminal?.wrap(command, columns) ?? [], { env });
      return (await program.end()).stdout.replaceAll("\r\n", "\n");
    };
    const [agent = "", computer] = await Promise.all([
      drawOne(doorWords("agent.ts", [...this.#office, ...words])),
      drawOne(doorWords("computer.ts", words)),
    ]);
    assertEquals(agent, computer, `agent.ts and computer.ts draw differently: ${words.join(" ")}`);
    return agent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanUp.disposeAsync();
  }
}

/** What both doors print: `text` is all of standard output, `error` a part of standard error. */
interface Case {
  readonly words: readonly string[];
  readonly input?: string;
  readonly code?: number;
  readonly text?: string;
  readonly error?: string;
}

const TITLE = "年度报告�]0;pwned� (xlsx, 1 page)  [财务]";

const CASES: readonly Case[] = [
  {
    words: ["tools"],
    text:
      "echo(message: string, times?: integer)\n    Says it again\nprint()\nraw()\nnap()\nbecome()\nreceived()\n",
  },
  {
    words: ["tools", "ecco"],
    code: 1,
    text: "",
    error: 'error: Cannot find tool "ecco"; did you mean "echo"?',
  },
  { words: ["call", "echo", "message=3", "times=3"], text: `${echo({ message: "3", times: 3 })}\n` },
  {
    words: ["call", "echo", "--params", "-", "times=2"],
    input: '{"message":"piped"}',
    text: `${echo({ message: "piped", times: 2 })}\n`,
  },
  { words: ["call", "raw"], text: `${RAW}\n` },
  { words: ["call", "print"], code: 1, text: "out of paper\n", error: 'error: Tool "print" failed\n' },
  { words: ["call", "nothing"], code: 1, text: "", error: "(4001)" },
  { words: ["call", "ecco"], code: 1, text: "", error: 'did you mean "echo"? (4001)' },
  {
    words: ["read", "dpe://dosc/rpt"],
    code: 1,
    text: "",
    error: 'Document "rpt" not found: no MCP server has',
  },
  { words: ["read", "dpe://dosc/rpt"], code: 1, text: "", error: '"dosc"; did you mean "docs"? (4201)' },
  { words: ["call", "nap", "--timeout", "1"], code: 5, text: "", error: "(4004)" },
  {
    words: ["call", "echo", "hi"],
    code: 2,
    text: "",
    error: 'error: Cannot read argument "hi": write NAME=VALUE',
  },
  { words: ["call", "echo", "--params", "-"], input: "[1]", code: 2, text: "", error: "not a JSON object" },
  { words: ["call", "echo", "--timeout", "86401"], code: 2, text: "", error: "86400" },
  { words: ["desktop"], text: "window://log\n\nsafe�[31m!\n\tok\n" },
  { words: ["desktop", "--window", "dpe://no"], code: 1, text: "", error: "(400)" },
  { words: ["finder"], text: `${TITLE}\n    ${D}\n1–1 of 1\n` },
  {
    words: ["finder", "--depth", "elements"],
    text: [
      TITLE,
      `    ${D}`,
      "    page 0: 概览 (2 elements)",
      "        [heading] h-1: 总结�[2J",
      "        [table] t-1: 收入",
      "1–1 of 1\n",
    ].join("\n"),
  },
  { words: ["finder", "--offset", "3"], text: "none of 1 documents\n" },
  { words: ["finder", "--depth", "words"], code: 2, text: "", error: "documents, pages, elements" },
  { words: ["read", "window://log/raw"], text: `${RAW}\n` },
  { words: ["read", "config://app", "--mcp-server", "docs"], text: '{"b":[1]}\n' },
  { words: ["read", "config://app"], code: 2, text: "", error: "--mcp-server NAME" },
  { words: ["read", "dpe://docs/other"], code: 1, text: "", error: "(4201)" },
];

function echo(args: unknown): string {
  return JSON.stringify({ name: "echo", args });
}

// proves: desktop-render-text
Deno.test("agent.ts and computer.ts print the same for tools, call, desktop, finder and read", async () => {
  await using doors = await Doors.open();
  for (const { words, input, code = 0, text, error } of CASES) {
    const outcome = await doors.run(words, input);
    const name = words.join(" ");
    assertEquals(outcome.code, code, `${name}: ${outcome.stderr}`);
    if (text !== undefined) assertEquals(outcome.stdout, text, name);
    if (error === undefined) assertEquals(outcome.stderr, "", name);
    else assertStringIncludes(outcome.stderr, error, name);
  }
});

/** The commands whose answer is a list, and what they say of an empty one. */
const EMPTY_LISTS: readonly { readonly words: readonly string[]; readonly what: string }[] = [
  { words: ["tools"], what: "no tools" },
  { words: ["desktop"], what: "no windows" },
  { words: ["desktop", "--window", "window://log"], what: "no windows match window://log" },
  { words: ["finder"], what: "no documents" },
  { words: ["finder", "--keyword", "money"], what: "no documents match" },
];

Deno.test("an empty list says that MCP servers are still starting, or where to see whether they are", async () => {
  await using doors = await Doors.open({ servers: { slow: scripted({ hang: ["initialize"] }) } });
  for (const { words, what } of EMPTY_LISTS) {
    const { agent, computer } = await doors.runEach(words);
    assertEquals([computer.code, computer.stdout], [0, `${what}: server "slow" is starting\n`]);
    assertEquals(agent.code, 0, agent.stderr);
    assertStringIncludes(agent.stdout, `${what}; `);
    assertStringIncludes(agent.stdout, "may be starting, stopped or failed");
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
  assertEquals(computer.stdout, 'no documents match: server "slow" is starting\n');
  assertEquals((await doors.runEach(["tools", "--json"])).computer.stderr, "");
});

const META = {
  a2c_mcp_server: "docs",
  a2c_tool_meta: { alias: null, auto_apply: true, ret_object_mapper: null, tags: null },
};

/** What `--json` prints: on standard output, and of an error its members. */
interface JsonCase {
  readonly words: readonly string[];
  readonly value?: unknown;
  readonly error?: { readonly code?: unknown; readonly exit_code: number };
}

const JSON_CASES: readonly JsonCase[] = [
  { words: ["desktop"], value: { computer: "laptop", desktops: ["window://log\n\nsafe\u001b[31m!\n\tok"] } },
  {
    words: ["finder", "--depth", "elements"],
    value: {
      computer: "laptop",
      documents: [{ ...REPORT, server: "docs", pages: [{ ...INDEX[0], elements: ELEMENTS }] }],
      total_count: 1,
    },
  },
  {
    words: ["read", "config://app", "--mcp-server", "docs"],
    value: { contents: [{ uri: "config://app", mimeType: "text/plain", text: '{"b":[1]}' }] },
  },
  {
    words: ["call", "raw"],
    value: { content: [{ type: "text", text: RAW }], isError: false, meta: META },
  },
  {
    words: ["call", "print"],
    value: {
      content: [{ type: "text", text: "out of paper" }],
      isError: true,
      meta: META,
    },
    error: { exit_code: 1 },
  },
  { words: ["tools", "other"], error: { exit_code: 1 } },
  { words: ["read", "dpe://docs/other"], error: { code: 4201, exit_code: 1 } },
  { words: ["call"], error: { code: "USAGE", exit_code: 2 } },
];

Deno.test("agent.ts and computer.ts print the same JSON, errors on stderr", async () => {
  await using doors = await Doors.open();
  const { tools, ...rest } = JSON.parse((await doors.run(["tools", "echo", "--json"])).stdout);
  assertEquals([rest, tools.length, tools[0].params_schema], [{ computer: "laptop" }, 1, SCHEMA]);
  for (const { words, value, error } of JSON_CASES) {
    const outcome = await doors.run([...words, "--json"]);
    const name = words.join(" ");
    if (value === undefined) assertEquals(outcome.stdout, "", name);
    else assertEquals(JSON.parse(outcome.stdout), value, name);
    assertEquals(outcome.code, error?.exit_code ?? 0, name);
    if (error === undefined) assertEquals(outcome.stderr, "", name);
    else {
      const { message, ...members } = JSON.parse(outcome.stderr).error;
      assertEquals([typeof message, members, outcome.stderr.split("\n").length], ["string", error, 2], name);
    }
  }
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
page 0 概览

总结

┌──────┐
│ 季度 │
├──────┤
│ Q1   │
└──────┘
`,
  },
  {
    words: ["read", `${D}/elements/t-1`],
    drawn: `
┌──────┐
│ 季度 │
├──────┤
│ Q1   │
└──────┘
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
