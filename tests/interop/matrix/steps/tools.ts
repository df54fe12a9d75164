/** Tools and their calls. */
import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { isFrom } from "../../../../src/protocol/version.ts";
import { fields, picture } from "../../_office.ts";
import { LOCKED } from "../mcp_servers.ts";
import type { Office } from "../office.ts";
import type { Step } from "../step.ts";

const TOOLS: Readonly<Record<string, readonly string[]>> = {
  windows: ["add", "slow", "set_status", "picture"],
  web: ["web_echo"],
  old: ["old_echo", "become"],
  ...Object.fromEntries(Object.keys(LOCKED).map((server) => [server, [`${server}_open`]])),
};
const TOOLS_CHANGED = { method: "notifications/tools/list_changed" };
/** Of a call that ends before; long enough that nothing else ends it. */
const LONG_SECONDS = 60;

/** The metadata of a result, which each SDK writes in its own way. */
function metaOf(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return fields(result["meta"] ?? result["_meta"] ?? {});
}

function listedTools(answer: Record<string, unknown>): Record<string, unknown>[] {
  return answer["tools"] as Record<string, unknown>[];
}

async function listTools(office: Office): Promise<void> {
  const tools = listedTools(await office.ask("tools"));
  const expected = Object.entries(TOOLS)
    .flatMap(([server, names]) => names.map((name) => office.toolName(server, name)));
  assertEquals(tools.map(({ name }) => name).sort(), expected.sort());
  const add = tools.find(({ name }) => name === office.toolName("windows", "add"));
  assertObjectMatch(fields(add), {
    description: "Adds two numbers",
    params_schema: { required: ["a", "b"] },
  });
  if (isFrom(office.minor, "0.3")) assertEquals(add?.["bundle_id"], "windows");
}

async function callOverStdio(office: Office): Promise<void> {
  const result = await office.call(["windows", "add"], { a: 40, b: 2 });
  assertObjectMatch(result, { structuredContent: { sum: 42 } });
  assert(result["isError"] !== true);
}

async function callEcho(office: Office, server: string): Promise<void> {
  const tool = `${server}_echo`;
  assertObjectMatch(await office.call([server, tool]), { content: [{ text: `${tool} was called` }] });
}

async function callUnknown(office: Office): Promise<void> {
  assertObjectMatch(await office.call(["windows", "nope"]), { isError: true });
}

async function carry(office: Office, sizeBytes: number): Promise<void> {
  const { content } = await office.call(["windows", "picture"], { size: sizeBytes });
  const [item] = content as Record<string, unknown>[];
  assert(
    item?.["data"] === picture(sizeBytes),
    `not the bytes of the picture: ${Deno.inspect(item, { strAbbreviateSize: 80 })}`,
  );
}

async function timeOut(office: Office): Promise<void> {
  // It is cancelled after its time, and what it would tell of that could come in the middle of a later step.
  const call = office.call(["windows", "slow"], { seconds: LONG_SECONDS, silent: true }, 1);
  // Our Agent rejects where the Server has no answer; the others make a result of their own.
  const outcome = await call.catch((error: unknown) => ({ isError: error instanceof Error }));
  assertObjectMatch(outcome, { isError: true });
}

async function cancel(office: Office): Promise<void> {
  await office.call(["windows", "set_status"], { text: "ready to be cancelled" });
  await office.untilDesktopSays("ready to be cancelled");
  const call = office.call(["windows", "slow"], { seconds: LONG_SECONDS }, LONG_SECONDS).catch(() => {});
  await office.untilDesktopSays("slow is running");
  await office.agent.command({ command: "cancel" });
  await office.untilDesktopSays("slow was cancelled");
  await call;
}

async function hearOfTools(office: Office): Promise<void> {
  office.agent.takeEvents();
  const tools = [...TOOLS["old"] ?? [], "old_news"].map((name) => ({
    name,
    inputSchema: { type: "object" },
  }));
  const change = { tell: [TOOLS_CHANGED], answers: { "tools/list": { tools } } };
  await office.call(["old", "become"], change);
  await office.agent.nextEvent("notify:update_tool_list");
  // A Computer of the SDK of 0.2 tells of the change before it has listed the tools again.
  if (!isFrom(office.minor, "0.3")) return;
  const names = listedTools(await office.ask("tools")).map(({ name }) => name);
  assert(names.includes(office.toolName("old", "old_news")), `not among ${names}`);
}

async function refuseCalls(office: Office): Promise<void> {
  const codes = { anonymous: 4006, powerless: 4007 } satisfies Record<keyof typeof LOCKED, number>;
  for (const [server, code] of Object.entries(codes)) {
    const result = await office.call([server, `${server}_open`]);
    assertEquals([result["isError"], metaOf(result)["error_code"]], [true, code]);
    assertEquals(metaOf(result)["mcp_server"], server);
  }
}

/** In the order in which they run. */
export const toolSteps: readonly Step[] = [
  { id: "tools", title: "Tools with their schemas", run: listTools },
  { id: "call-stdio", title: "Call over stdio", run: callOverStdio },
  { id: "call-streamable", title: "Call over Streamable HTTP", run: (office) => callEcho(office, "web") },
  { id: "call-sse", title: "Call over SSE", run: (office) => callEcho(office, "old") },
  { id: "call-unknown", title: "Call of an unknown tool", run: callUnknown },
  { id: "binary-1kb", title: "Picture of 1 KB, byte for byte", run: (office) => carry(office, 1_000) },
  { id: "binary-40kb", title: "Picture of 40 KB", run: (office) => carry(office, 40_000) },
  { id: "binary-400kb", title: "Picture of 400 KB", run: (office) => carry(office, 400_000) },
  { id: "binary-3mb", title: "Picture of 3 MB", run: (office) => carry(office, 3_000_000) },
  { id: "time-out", title: "Time-out of a call", run: timeOut },
  { id: "cancel", title: "Cancelled call, which ends in the MCP server, too", run: cancel },
  { id: "update-tool-list", title: "Notification of changed tools", run: hearOfTools },
  {
    id: "authorization",
    title: "4006 and 4007 where an MCP server wants a sign-in",
    from: "0.3",
    run: refuseCalls,
  },
];
