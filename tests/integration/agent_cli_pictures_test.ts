import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/server.ts";
import { doorWords, RunningDoor } from "../fixtures/door.ts";
import { type Answer, contents, ScriptedComputer } from "./_scripted_computer.ts";
import { type Terminal, testOnFirstTerminal, type Words } from "./_terminal.ts";

// deno-lint-ignore no-control-regex -- colours are what is looked for
const COLOR = /\u001b\[\d+m/g;

const report = {
  doc_ref: "rpt",
  uri: "dpe://docs/rpt",
  file_uri: "file:///rpt.xlsx",
  file_type: "xlsx",
  title: "2026 年度报告\u001b]0;pwned\u0007",
  page_count: 1,
  keywords: ["财务"],
  server: "docs",
  last_modified: "2026-01-15",
};
const elements = [
  { element_id: "h-1", category: "heading", summary: "总结\u001b[2J", content: { level: 1, text: "总结" } },
  { element_id: "t-1", category: "table", summary: "收入", content: { headers: ["季度"], rows: [["Q1"]] } },
];
const page = { page_index: 0, title: "概览", doc_ref: "rpt", elements };

/** A tool as a Computer lists it that tells from which MCP server it is. */
function tool(name: string, server: string) {
  const params_schema = { type: "object", properties: { path: { type: "string" } } };
  return {
    name,
    description: `Does ${name}`,
    params_schema,
    return_schema: null,
    bundle_id: server,
  };
}

const answers: Record<string, Answer> = {
  "client:get_tools": ({ req_id }) => ({
    tools: [tool("read", "files"), tool("search", "web"), tool("write", "files")],
    req_id,
  }),
  "client:get_desktop": ({ req_id }) => ({
    desktops: [
      "window://editor/main\n\n服务已启动\u001b[31m!\u001b[0m\n\tok",
      "window://log\n\nsafe\u202egpj.exe",
    ],
    req_id,
  }),
  "client:get_finder": ({ req_id }) => ({ documents: [report], total_count: 1, req_id }),
  "client:read_resource": ({ uri }) => {
    if (uri === "dpe://docs/rpt/pages/0") return contents(uri, JSON.stringify(page));
    const index = { page_index: 0, title: "概览", element_count: 2, uri: "dpe://docs/rpt/pages/0" };
    return contents(uri, JSON.stringify({ ...report, pages: [index] }));
  },
};

async function execute(words: Words, env: Record<string, string>): Promise<string> {
  await using program = new RunningDoor(words, { env });
  const { code, stdout, stderr } = await program.end();
  assertEquals(code, 0, stdout + stderr);
  return stdout;
}

function agent(server: SmcpServer, args: Words): Words {
  const options = ["--url", server.url, "--office", "lab", "--name", "ada", "--log-level", "error"];
  return doorWords("agent.ts", [...options, ...args], ["--allow-net", "--ignore-env"]);
}

/** What a command writes to a terminal, with the line feeds that it was given. */
async function onTerminal(
  terminal: Terminal,
  command: Words,
  { columns, noColor = "" }: { readonly columns: number; readonly noColor?: string },
): Promise<string> {
  // What it shows while it connects goes to standard error, and depends on how long that takes.
  const quiet = ["sh", "-c", 'exec "$@" 2>/dev/null', "sh", ...command];
  const written = await execute(terminal.wrap(quiet, columns), { NO_COLOR: noColor, TERM: "xterm" });
  // A slow machine shows progress, which is erased again.
  // deno-lint-ignore no-control-regex -- a control sequence is what is looked for
  return written.replaceAll("\r\n", "\n").replaceAll(/[^\n]*\r\u001b\[2K/g, "");
}

testOnFirstTerminal(
  "agent.ts desktop draws boxes in colours on a terminal, as wide as it is",
  async (terminal) => {
    await using server = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(server.url, { answers });
    const drawn = await onTerminal(terminal, agent(server, ["desktop"]), { columns: 80 });
    assertMatch(drawn, COLOR);
    assertEquals(
      `\n${drawn.replace(COLOR, "")}`,
      `
╭─ window://editor/main ───────────────╮
│ 服务已启动!                          │
│         ok                           │
╰──────────────────────────────────────╯
╭─ window://log ───────────────────────╮
│ safegpj.exe                          │
╰──────────────────────────────────────╯
`,
    );
  },
);

testOnFirstTerminal(
  "agent.ts shows names, titles of the help and errors in colours, none with NO_COLOR",
  async (terminal) => {
    await using server = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(server.url, { answers });
    const office = agent(server, ["office"]);
    assertStringIncludes(await onTerminal(terminal, office, { columns: 80 }), "\u001b[1mlaptop\u001b[22m");
    assertEquals((await onTerminal(terminal, office, { columns: 80, noColor: "1" })).match(COLOR), null);
    const help = agent(server, ["--help"]);
    assertStringIncludes(await onTerminal(terminal, help, { columns: 80 }), "\u001b[1mExit codes:\u001b[22m");
    assertEquals((await onTerminal(terminal, help, { columns: 80, noColor: "1" })).match(COLOR), null);
    for (const words of [["tools", "no"], ["tools", "--no"]]) {
      const env = { NO_COLOR: "", TERM: "xterm" };
      await using program = new RunningDoor(terminal.wrap(agent(server, words), 80), { env });
      const { stdout, code } = await program.end();
      assert(code !== 0);
      assertStringIncludes(stdout, "\u001b[31merror:\u001b[39m");
    }
  },
);

testOnFirstTerminal(
  "agent.ts --json writes JSON to a terminal, too, and no control character",
  async (terminal) => {
    await using server = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(server.url, { answers });
    const written = await onTerminal(terminal, agent(server, ["--json", "finder"]), { columns: 80 });
    assertEquals(JSON.parse(written).documents, [report]);
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    assert(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(written));
  },
);
