import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { splitWords } from "../../src/terminal/words.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { leave, testPrompt } from "./_computer_prompt.ts";
import { Workplace } from "./_computer_program.ts";

const isPosix = Deno.build.os !== "windows";
const SHELL = scripted(
  { tools: [{ name: "run", description: "Runs it", inputSchema: { type: "object" } }] },
  {
    default_tool_meta: {},
  },
);
const ASKING = {
  type: "stdio",
  default_tool_meta: { auto_apply: true },
  server_parameters: {
    command: Deno.execPath(),
    args: [
      "run",
      "-A",
      "--no-check",
      "--quiet",
      fromFileUrl(import.meta.resolve("../fixtures/asking_server.ts")),
    ],
  },
};

interface Entry {
  readonly id: string;
  readonly digest: string;
  readonly [member: string]: unknown;
}

/** A Computer without a terminal, its commands, and an Agent. */
class Desk implements AsyncDisposable {
  readonly #place: Workplace;
  readonly #all: AsyncDisposableStack;
  readonly agent: Agent;

  private constructor(place: Workplace, agent: Agent, all: AsyncDisposableStack) {
    this.#place = place;
    this.agent = agent;
    this.#all = all;
  }

  static async open(servers: Record<string, unknown>): Promise<Desk> {
    await using stack = new AsyncDisposableStack();
    const place = stack.use(new Workplace());
    const server = stack.use(await SmcpServer.listen({ port: 0 }));
    const config = place.write("config.json", { servers });
    const connection = ["--url", server.url, "--office", "lab", "--name", "laptop"];
    stack.use(await place.serve([...connection, "--config", config]));
    const agent = stack.use(await Agent.connect({ url: server.url, office: "lab", name: "ada" }));
    return new Desk(place, agent, stack.move());
  }

  call(params: Record<string, unknown>, tool = "run"): Promise<CallToolResult> {
    return this.agent.computer("laptop").callTool(tool, params);
  }

  async run(...words: string[]): Promise<{ code: number; value: Record<string, unknown>; error: string }> {
    const { code, stdout, stderr } = await this.#place.run([...words, "--json"]);
    return { code, value: stdout === "" ? {} : JSON.parse(stdout), error: stderr };
  }

  /** What a command prints for a person. */
  async text(...words: string[]): Promise<string> {
    return (await this.#place.run(words)).stdout;
  }

  /** The only thing that waits, once something does. */
  async waiting(): Promise<Entry> {
    const [entry] = await eventually(
      async () => (await this.run("calls")).value["waiting"] as Entry[],
      ({ length }) => length === 1,
      "something that waits",
    );
    return entry as Entry;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#all.disposeAsync();
  }
}

function testDesk(name: string, servers: Record<string, unknown>, work: (desk: Desk) => Promise<void>): void {
  Deno.test({
    name,
    ignore: !isPosix,
    async fn() {
      await using desk = await Desk.open(servers);
      await work(desk);
    },
  });
}

testDesk(
  "where nobody looks, a call is refused at once; who looks is asked",
  { shell: SHELL },
  async (desk) => {
    assertEquals((await desk.call({})).meta?.error_code, 4005);
    await desk.run("calls");
    const result = desk.call({ path: "a\u202eb" });
    const { id, digest, since, ends_at, ...shown } = await desk.waiting();
    assertEquals(shown, {
      kind: "call",
      server: "shell",
      tool: "run",
      name: "run",
      agent: "ada",
      claimed_agent: "ada",
      is_local: false,
      description: "Runs it",
      annotations: {},
      must_ask: false,
      has_always: true,
      changes: [],
      arguments_bytes: 16,
      arguments: { path: "a\u202eb" },
    });
    assertEquals(Date.parse(String(since)) < Date.parse(String(ends_at)), true);
    assertEquals((await desk.run("calls", "allow", id, "--shown", digest)).value, { id, decision: "allow" });
    assertEquals((await result).isError, false);
    const late = await desk.run("calls", "deny", id);
    assertEquals([late.code, JSON.parse(late.error).error.code], [1, "STATE_CHANGED"]);
    assertStringIncludes(late.error, "answered by a command");
  },
);

testDesk("calls are listed for a person in lines", { shell: SHELL }, async (desk) => {
  await desk.run("pause");
  assertEquals((await desk.run("status")).value["paused"], true);
  assertStringIncludes(await desk.text("status"), "paused: new calls");
  assertEquals((await desk.text("calls")).trimEnd().split("\n"), [
    'paused: new calls of Agents, and all reads of documents, windows and skills, are refused until "resume"; calls ' +
    "that run go on",
    "",
    "nothing waits for you",
  ]);
});

const LOOK = { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };

testDesk(
  "of a tool that only reads, the list says so",
  { eye: scripted({ tools: [LOOK] }) },
  async (desk) => {
    assertMatch(
      await desk.text("tool", "list"),
      /^look +eye +runs unasked +only reads, as its server says$/m,
    );
  },
);

testDesk("a call that is another one than was shown is not allowed", { shell: SHELL }, async (desk) => {
  await desk.run("calls");
  const result = desk.call({ n: 1 });
  const { id, digest } = await desk.waiting();
  for (const shown of ["", digest.toUpperCase(), digest.slice(0, 32), "0".repeat(64)]) {
    const { code, error } = await desk.run("calls", "allow", id, "--always", "--shown", shown);
    assertEquals([code, JSON.parse(error).error.code], [1, "STATE_CHANGED"]);
  }
  assertEquals((await desk.run("calls", "allow", id)).code, 2);
  assertEquals((await desk.run("calls", "deny", id)).value, { id, decision: "deny" });
  assertEquals((await result).meta?.error_code, 4005);
  assertEquals((await desk.run("calls")).value, { paused: false, waiting: [], running: [] });
  const history = JSON.parse(await desk.text("history", "--json"));
  assertEquals(history.history.map((call: Entry) => [call["outcome"], call["error_code"]]), [[
    "declined",
    4005,
  ]]);
});

testDesk("two calls with other arguments have other digests, and always holds for the next one", {
  shell: SHELL,
}, async (desk) => {
  await desk.run("calls");
  const first = desk.call({ n: 1 });
  const one = await desk.waiting();
  await desk.run("calls", "deny", one.id);
  await first;
  const second = desk.call({ n: 2 });
  const two = await desk.waiting();
  assertEquals(one.digest === two.digest, false);
  await desk.run("calls", "allow", two.id, "--always", "--shown", two.digest);
  await second;
  assertEquals((await desk.call({ n: 3 })).isError, false);
});

testDesk(
  "long arguments are shown in pages, and nothing of them is left out",
  { shell: SHELL },
  async (desk) => {
    await desk.run("calls");
    const params = { text: "é😀\n".repeat(30_000), end: "rm -rf ~" };
    const result = desk.call(params);
    const { id, arguments: listed, arguments_bytes: bytes } = await desk.waiting();
    assertEquals([listed, bytes], [undefined, new TextEncoder().encode(JSON.stringify(params)).length]);
    let text = "";
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { value } = await desk.run("calls", "show", id, "--page", `${page}`);
      text += value["text"];
      pages = Number(value["pages"]);
    }
    assertEquals(JSON.parse(text), params);
    assertEquals((await desk.run("calls", "show", id, "--page", "99")).code, 2);
    await desk.run("calls", "deny", id);
    await result;
  },
);

testDesk("a question of an MCP server is answered by a command", { asking: ASKING }, async (desk) => {
  await desk.run("calls");
  const form = {
    message: "Which bread?",
    requestedSchema: { type: "object", properties: { loaves: { type: "integer" } }, required: ["loaves"] },
  };
  const result = desk.call({ questions: [form, form] }, "ask");
  const { id, kind, question } = await desk.waiting();
  const { mode, message, fields, schema } = question as Record<string, unknown>;
  assertEquals([kind, mode, message, schema], ["question", "form", "Which bread?", form.requestedSchema]);
  assertMatch(JSON.stringify(fields), /"name":"loaves".*"is_required":true/);
  const wrong = await desk.run("calls", "answer", id, "--content", '{"loaves":"two"}');
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.error, "loaves");
  assertEquals((await desk.waiting()).id, id);
  assertEquals((await desk.run("calls", "answer", id, "--content", '{"loaves":2}')).code, 0);
  const next = await eventually(() => desk.waiting(), (entry) => entry.id !== id, "the second question");
  assertEquals((await desk.run("calls", "decline", next.id)).value, { id: next.id, action: "decline" });
  const said = JSON.stringify((await result).content);
  assertStringIncludes(said, "accept");
  assertStringIncludes(said, "decline");
});

testDesk(
  "the list says how a question is answered as JSON, on a line to copy",
  { asking: ASKING },
  async (desk) => {
    await desk.run("calls");
    const properties = {
      name: { type: "string" },
      sliced: { type: "boolean" },
      with: { type: "array", items: { type: "string", enum: ["rye's", "oat"] }, minItems: 1 },
    };
    const form = { message: "Which bread?", requestedSchema: { type: "object", properties } };
    const result = desk.call({ questions: [form] }, "ask");
    const { id } = await desk.waiting();
    const lines = (await desk.text("calls")).split("\n");
    assert(
      lines.includes("fields: name, sliced (true or false), with (rye's or oat, a list, at least 1 option)"),
    );
    const line = lines.find((each) => each.includes(`calls answer ${id}`)) ?? "";
    assertMatch(line, /computer(?:\.ts)? --name laptop calls answer /);
    const words = splitWords(line);
    const example = words.slice(words.indexOf("calls"));
    assertEquals(example.at(-1), '{"name":"…","sliced":true,"with":["rye\'s"]}');
    assertEquals((await desk.run(...example)).value, { id, action: "accept" });
    await result;
  },
);

const HANGING = scripted({
  tools: [{ name: "run", inputSchema: { type: "object" } }],
  hang: ["tools/call run"],
});

testDesk("a call that runs is listed, and cancelled by its number", { shell: HANGING }, async (desk) => {
  const result = desk.call({});
  const [entry] = await eventually(
    async () => (await desk.run("calls")).value["running"] as Record<string, unknown>[],
    ({ length }) => length === 1,
    "a call that runs",
  );
  const { id, since, timeout_at, req_id, ...shown } = entry ?? {};
  assertEquals(shown, {
    server: "shell",
    tool: "run",
    name: "run",
    agent: "ada",
    is_local: false,
  });
  assertEquals([typeof req_id, Date.parse(String(since)) < Date.parse(String(timeout_at))], [
    "string",
    true,
  ]);
  assertEquals((await desk.run("calls", "cancel", `${id}`)).value, { id, cancelled: true });
  assertEquals((await result).meta?.a2c_cancelled, true);
  const again = await desk.run("calls", "cancel", `${id}`);
  assertEquals([again.code, JSON.parse(again.error).error.code], [1, "STATE_CHANGED"]);
});

testDesk("while calls are paused, new ones of the Agent are refused, and others run", {
  shell: scripted({ tools: [{ name: "run", inputSchema: { type: "object" } }] }),
}, async (desk) => {
  assertEquals((await desk.run("pause")).value, { paused: true, problem: null });
  assertEquals((await desk.run("calls")).value["paused"], true);
  const refused = await desk.call({});
  assertEquals([refused.isError, refused.meta?.a2c_reason], [true, "paused"]);
  assertStringIncludes(JSON.stringify(refused.content), "paused");
  assertEquals((await desk.run("call", "run")).code, 0);
  assertEquals((await desk.run("resume")).value, { paused: false, problem: null });
  assertEquals((await desk.call({})).isError, false);
});

const SECRET = "correct-horse-battery";
const KEYED = scripted({ tools: [{ name: "run", inputSchema: { type: "object" } }] });
const KEYED_PARAMETERS = { ...Object(KEYED["server_parameters"]), env: { API_TOKEN: SECRET } };

testDesk("the history has arguments without secrets, and what ended after an id", {
  shell: { ...KEYED, server_parameters: KEYED_PARAMETERS },
}, async (desk) => {
  await desk.call({ header: `Bearer ${SECRET}`, password: "pw" });
  await desk.call({ n: 2 });
  const read = async (...words: string[]) =>
    (await desk.run("history", ...words)).value["history"] as Record<string, unknown>[];
  const [first, second, ...more] = await read();
  assertEquals(more, []);
  assertEquals([first?.["arguments"], first?.["is_cut"]], [
    '{"header":"Bearer ***","password":"***"}',
    false,
  ]);
  assertMatch(await desk.text("history"), /ada +\{"header":"Bearer \*\*\*","password":"\*\*\*"\}$/m);
  assertEquals(await read("--since-id", `${first?.["id"]}`), [second]);
  assertEquals(await read("--since-id", `${second?.["id"]}`), []);
});

testDesk("the status says the Agent, since when, and the memory of each server", {
  shell: HANGING,
  broken: { type: "stdio", server_parameters: { command: "no-such-command-anywhere" } },
}, async (desk) => {
  const { value } = await desk.run("status");
  assertEquals([value["office"], value["agent"]], ["lab", "ada"]);
  assertEquals(Date.parse(String(value["since"])) <= Date.now(), true);
  const [shell, broken] = value["servers"] as Record<string, unknown>[];
  if (Deno.build.os === "linux") assertEquals(Number(shell?.["memory_bytes"]) > 1_000_000, true);
  assertStringIncludes(String(broken?.["remedy"]), "Install the program");
});

testDesk(
  "a tool is hidden, shown, allowed and asked about, in the config",
  { shell: SHELL },
  async (desk) => {
    const standing = async () => {
      const tools = (await desk.run("tool", "list")).value["tools"] as Record<string, unknown>[];
      return tools.filter(({ tool }) => tool === "run").map(({ name, hidden, auto_apply, server }) => [
        name,
        hidden,
        auto_apply,
        server,
      ]);
    };
    assertEquals(await standing(), [["run", false, false, "shell"]]);
    const { code, value } = await desk.run("tool", "hide", "run");
    assertEquals([code, value["tools"]], [0, [{ name: "run", server: "shell", tool: "run" }]]);
    assertEquals(await standing(), [["run", true, false, "shell"]]);
    assertEquals((await desk.call({})).meta?.error_code, 4002);
    assertEquals((await desk.run("tool", "show", "run")).code, 0);
    assertEquals((await desk.call({})).meta?.error_code, 4005);
    assertEquals((await desk.run("tool", "allow", "run")).code, 0);
    assertEquals((await desk.call({})).isError, false);
    assertEquals(await standing(), [["run", false, true, "shell"]]);
    assertEquals((await desk.run("tool", "ask", "run")).code, 0);
    assertEquals((await desk.call({})).meta?.error_code, 4005);
    assertEquals((await desk.run("tool", "hide", "run", "ran")).code, 1);
    assertEquals(await standing(), [["run", false, false, "shell"]]);
  },
);

testPrompt("what a command answers, the terminal shows as answered", async ({ open, place }) => {
  await using server = await SmcpServer.listen({ port: 0 });
  const session = await open({
    config: { servers: { shell: SHELL } },
    args: ["--url", server.url, "--office", "lab"],
  });
  await session.expect("laptop@lab> ");
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const result = agent.computer("laptop").callTool("run", {});
  await session.expect("Run it? [y]es, [a]lways, [N]o: ");
  const { stdout } = await place.run(["calls", "--json"]);
  const { waiting: [{ id, digest }] } = JSON.parse(stdout);
  const text = (await place.run(["calls"])).stdout;
  assertStringIncludes(text, `Agent "ada" calls "run" of "shell"\nwith {}\n`);
  assertEquals((await place.run(["calls", "allow", id, "--shown", digest])).code, 0);
  assertEquals((await result).isError, false);
  await session.expectScreen(/Run it\? \[y\]es, \[a\]lways, \[N\]o: \(answered by a command\)/);
  await leave(session);
});
