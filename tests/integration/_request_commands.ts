// `tools`, `call`, `desktop`, `finder` and `read`: each case is run by `agent.ts` and by `computer.ts`, which asks a
// Computer that runs; both print the same.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/server.ts";
import { doorWords, RunningDoor } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { Workplace } from "./_computer_program.ts";
import { terminals } from "./_terminal.ts";

/** What a terminal would obey; a pipe gets it as it is. */
const RAW = "\u001b[31mred\u001b[0m\r\n\u0007\u202eend";
export const D = "dpe://docs/rpt";
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
export const SCHEMA = {
  type: "object",
  properties: { message: { type: "string" }, times: { type: "integer" } },
  required: ["message"],
};
export const CONFIG = {
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
export class Doors implements AsyncDisposable {
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
      runHosted("agent.ts", [...this.#office, ...words], options),
      runHosted("computer.ts", words, options),
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

const TITLE = "年度报告  xlsx  1 page  2026-01-15";

const CASES: readonly Case[] = [
  {
    words: ["tools"],
    text: `docs  6 tools
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
    words: ["tools", "ecco"],
    code: 1,
    text: "",
    error: 'error: Cannot find tool "ecco"; did you mean "echo"?',
  },
  {
    words: ["call", "echo", "message=3", "times=3"],
    text: `${echo({ message: "3", times: 3 })}\n`,
  },
  {
    words: ["call", "echo", "--params", "-", "times=2"],
    input: '{"message":"piped"}',
    text: `${echo({ message: "piped", times: 2 })}\n`,
  },
  { words: ["call", "raw"], text: `${RAW}\n` },
  {
    words: ["call", "print"],
    code: 1,
    text: "out of paper\n",
    error: 'error: Tool "print" failed\n',
  },
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
  { words: ["desktop"], text: "window://log\n\n```\nsafe�[31m!\n\tok\n```\n" },
  { words: ["desktop", "--window", "dpe://no"], code: 1, text: "", error: "(400)" },
  { words: ["finder"], text: `docs\n└─ ${TITLE}\n     财务\n     ${D}\n1–1 of 1\n` },
  {
    words: ["finder", "--depth", "elements"],
    text: [
      "docs",
      `└─ ${TITLE}`,
      "   │ 财务",
      `   │ ${D}`,
      "   └─ 0  概览  2 elements",
      "      ├─ heading  h-1  总结",
      "      └─ table    t-1  收入",
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

/** What the tool `echo` answers. */
export function echo(args: unknown): string {
  return JSON.stringify({ name: "echo", args });
}

const META = {
  a2c_tool_meta: { alias: null, auto_apply: true, ret_object_mapper: null, tags: null },
};

/** What `--json` prints: on standard output, and of an error its members. */
interface JsonCase {
  readonly words: readonly string[];
  readonly value?: unknown;
  readonly error?: { readonly code?: unknown; readonly exit_code: number };
}

const JSON_CASES: readonly JsonCase[] = [
  {
    words: ["desktop"],
    value: { computer: "laptop", desktops: ["window://log\n\nsafe\u001b[31m!\n\tok"] },
  },
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

/** Runs cases whose output is text. */
async function runCases(cases: readonly Case[]): Promise<void> {
  await using doors = await Doors.open();
  for (const { words, input, code = 0, text, error } of cases) {
    const outcome = await doors.run(words, input);
    const name = words.join(" ");
    assertEquals(outcome.code, code, `${name}: ${outcome.stderr}`);
    if (text !== undefined) assertEquals(outcome.stdout, text, name);
    if (error === undefined) assertEquals(outcome.stderr, "", name);
    else assertStringIncludes(outcome.stderr, error, name);
  }
}

/** Runs cases with `--json`. */
async function runJsonCases(cases: readonly JsonCase[]): Promise<void> {
  await using doors = await Doors.open();
  for (const { words, value, error } of cases) {
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
}

/** Declares the tests of all cases. */
export function testRequestCommands(): void {
  Deno.test("agent.ts and computer.ts print the same for tools, call, desktop, finder and read", async () => {
    await runCases(CASES);
  });
  Deno.test("agent.ts and computer.ts print the same JSON, errors on stderr", async () => {
    await runJsonCases(JSON_CASES);
  });
}
