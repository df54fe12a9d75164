/**
 * An MCP server with the faults of its profile: `deno run -A mcp_server.ts PROFILE`, the profile as JSON. It has no
 * imports, so that it starts fast.
 *
 * Its tools, whose names begin with the name of the server and an underscore: `echo` (a text of `bytes` bytes), `sleep`
 * (`ms`), `crash`, `hang` (never answers), `freeze` (the server answers nothing from then on, or its process is stopped).
 */
import type { Profile } from "./profile.ts";

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const inputSchema = { type: "object" };
const TOOLS = ["echo", "sleep", "crash", "hang", "freeze"];
/** The number of call ids for which the runs are counted. */
const MAX_REMEMBERED_IDS = 2_000;

const profile: Profile = JSON.parse(Deno.args[0] ?? '{"name":"alone"}');
const host = `com.example.${profile.name}`;
const runs = new Map<string, number>();
const sleeping = new Map<unknown, ReturnType<typeof setTimeout>>();
let isFrozen = false;
let edition = 0;

if (profile.isStubborn === true) becomeStubborn();
if (profile.startMs !== undefined) await new Promise((resolve) => setTimeout(resolve, profile.startMs));
if (profile.crashesAfterMs !== undefined) setTimeout(() => Deno.exit(9), profile.crashesAfterMs);
if (profile.freezesAfterMs !== undefined) setTimeout(freeze, profile.freezesAfterMs);
if (profile.updatesEveryMs !== undefined) setInterval(update, profile.updatesEveryMs);
await serve();
if (profile.isStubborn !== true) Deno.exit(0);

async function serve(): Promise<void> {
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) receive(JSON.parse(line));
  }
}

function receive({ id, method = "", params = {} }: Request): void {
  if (method === "notifications/cancelled") return cancel(params["requestId"]);
  if (isFrozen || id === undefined) return;
  if (profile.printsGarbage === true) printGarbage();
  if (method === "tools/call") return call(id, params);
  send({ jsonrpc: "2.0", id, ...answer(method, params) });
}

function answer(method: string, params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  switch (method) {
    case "initialize":
      return {
        result: { protocolVersion: "2025-06-18", capabilities: capabilities(), serverInfo: serverInfo() },
      };
    case "tools/list":
      return { result: { tools: TOOLS.map((tool) => ({ name: `${profile.name}_${tool}`, inputSchema })) } };
    case "resources/list":
      return { result: { resources: resources() } };
    case "resources/read":
      return read(String(params["uri"]));
    default:
      return { result: {} };
  }
}

function call(id: number | string, params: Readonly<Record<string, unknown>>): void {
  const { name, arguments: args } = params as { name: string; arguments: Record<string, unknown> };
  const reply = (): void => {
    const text = JSON.stringify({
      name,
      args,
      runs: countRun(args["id"]),
      pid: Deno.pid,
      text: textOf(args),
    });
    send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });
  };
  switch (name.slice(profile.name.length + 1)) {
    case "crash":
      return Deno.exit(7);
    case "hang":
      return;
    case "freeze":
      return freeze();
    case "sleep":
      return void sleeping.set(id, setTimeout(reply, Number(args["ms"])));
    default:
      return reply();
  }
}

function cancel(id: unknown): void {
  clearTimeout(sleeping.get(id));
  sleeping.delete(id);
}

/** Counts the runs of the call with this id in this process. */
function countRun(id: unknown): number {
  const key = String(id);
  const count = (runs.get(key) ?? 0) + 1;
  runs.set(key, count);
  const [oldest] = runs.keys();
  if (runs.size > MAX_REMEMBERED_IDS && oldest !== undefined) runs.delete(oldest);
  return count;
}

function textOf(args: Readonly<Record<string, unknown>>): string {
  return "x".repeat(Number(args["bytes"] ?? 0));
}

/** Half of the frozen processes still read their input but do not answer; the other half do not read. */
function freeze(): void {
  isFrozen = true;
  if (profile.stopsWhenFrozen === true) Deno.kill(Deno.pid, "SIGSTOP");
}

function update(): void {
  if (isFrozen) return;
  edition++;
  tell("notifications/resources/updated", { uri: `window://${host}/status` });
  if (edition % 5 === 0) tell("notifications/resources/list_changed");
  if (edition % 7 === 0) tell("notifications/tools/list_changed");
}

function resources(): unknown[] {
  const windows = [0, 1, 2].map((number) => ({
    uri: number === 0 ? `window://${host}/status` : `window://${host}/${edition}/${number}`,
    name: `Window ${number}`,
    annotations: { priority: 0.5 },
  }));
  const documents = [1, 2, 3].map((number) => ({
    uri: `dpe://${host}/doc-${number}`,
    name: `Document ${number}`,
  }));
  return [...windows, ...documents];
}

function read(uri: string): Record<string, unknown> {
  const document = /^dpe:\/\/[^/]+\/(doc-[123])$/.exec(uri)?.[1];
  if (document !== undefined) {
    const summary = {
      doc_ref: document,
      uri,
      file_uri: `file:///${document}`,
      file_type: "md",
      title: document,
    };
    const text = JSON.stringify({ ...summary, page_count: 1, summary: `Edition ${edition}` });
    return { result: { contents: [{ uri, mimeType: "application/json", text }] } };
  }
  if (uri.startsWith("window://")) {
    const text = `${uri} at ${edition}, ${"word ".repeat(50)}`;
    return { result: { contents: [{ uri, mimeType: "text/plain", text }] } };
  }
  return { error: { code: -32002, message: "Resource not found", data: { uri } } };
}

function capabilities(): Record<string, unknown> {
  return { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };
}

function serverInfo(): Record<string, unknown> {
  return { name: profile.name, version: "1" };
}

function tell(method: string, params?: unknown): void {
  send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
}

function send(message: unknown): void {
  write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
}

/** Writes a line that is not a message, a line that is not valid UTF-8, and much text to stderr. */
function printGarbage(): void {
  write(new TextEncoder().encode("loading model… 50 %\n"));
  write(new Uint8Array([0x7b, 0xff, 0xfe, 0x22, 0x0a]));
  console.error("a warning that nobody reads ".repeat(20));
}

function write(bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.length;) sent += Deno.stdout.writeSync(bytes.subarray(sent));
}

/** Ignores a closed stdin and SIGTERM, and starts a child process that does the same and keeps stdout open. */
function becomeStubborn(): void {
  Deno.addSignalListener("SIGTERM", () => {});
  setInterval(() => {}, 60_000);
  const args = ["-c", "trap '' TERM HUP INT; while :; do sleep 60; done"];
  new Deno.Command("sh", { args, stdin: "null", stdout: "inherit", stderr: "null" }).spawn();
}
