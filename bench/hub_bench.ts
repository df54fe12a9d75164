/**
 * Measures the hub as a program: how much longer a call takes through it than through an Agent of the same Server alone,
 * and what idle MCP clients cost in memory. The ways of a call take turns, so that other load on the machine slows both
 * equally. The clients are bare JSON-RPC over `node:http`, which costs less than `fetch`, each with a session and an open
 * stream of events. A request of the same port that only asks for its health tells what HTTP takes by itself.
 *
 * ```sh
 * deno run -A bench/hub_bench.ts   # exit code 2 if a figure is above its goal
 * ```
 */
import { Agent as HttpAgent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { Agent } from "../src/agent/agent.ts";
import { delay } from "../src/async/backoff.ts";
import { ScriptedComputer } from "../tests/integration/_scripted_computer.ts";
import { ServerProcess } from "./fixtures/server_process.ts";

const PATH = "/mcp/o/hub";
const TOOLS = 20;
const WARM_CALLS = 300;
const CALLS = 3_000;
const CLIENTS = 200;
/** A credential has a share of all sessions, so that the clients have several. */
const TOKENS = 10;
/** The most that the hub may add to a call at the median, and to its memory for the idle clients. */
const GOALS = { callMs: 1, idleMib: 64 } as const;

const folder = await Deno.makeTempDir();
await Deno.writeTextFile(
  `${folder}/clients.txt`,
  Array.from({ length: TOKENS }, (_, index) => `token-${index} name=client-${index} offices=hub\n`).join(""),
);
Deno.env.set("A2C_MCP_TOKEN_FILE", `${folder}/clients.txt`);
Deno.env.set("A2C_HUB_STATE_FILE", `${folder}/hub.sqlite`);
const memory = new URL("./relay/memory.ts", import.meta.url);
const hub = await ServerProcess.start(
  ["-A", "--v8-flags=--expose-gc", `--preload=${memory.href}`],
  new URL("../hub.ts", import.meta.url),
);
const computers = await Promise.all(["hub", "agent"].map(joinComputer));
const agent = await Agent.connect({ url: hub.url, office: "agent", name: "agent" });

function joinComputer(office: string): Promise<ScriptedComputer> {
  const tools = Array.from({ length: TOOLS }, (_, index) => ({
    name: `tool_${index}`,
    description: "Does its work, and tells what came of it.",
    params_schema: { type: "object", properties: { path: { type: "string" } } },
    return_schema: null,
    meta: { MCP_TOOL_ANNOTATION: '{"readOnlyHint":true}' },
  }));
  return ScriptedComputer.join(hub.url, {
    office,
    name: "laptop",
    answers: {
      "client:get_tools": ({ req_id }) => ({ tools, req_id }),
      "client:tool_call": ({ params }) => ({ content: [{ type: "text", text: JSON.stringify(params) }] }),
    },
  });
}

/** Keeps connections open, as clients do. */
const connections = new HttpAgent({ keepAlive: true });

function send(method: string, path: string, given: {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
} = {}): Promise<IncomingMessage> {
  const { body = "", headers = {}, signal } = given;
  const sizes = { "content-length": String(body.length) };
  const options = { method, agent: connections, headers: { ...headers, ...sizes }, signal };
  return new Promise((resolve, reject) => {
    request(`${hub.url}${path}`, options, resolve).on("error", reject).end(body);
  });
}

/** A client in a session of its own. */
class BenchClient {
  readonly #headers: Record<string, string>;
  readonly #stop = new AbortController();
  #last = 0;

  private constructor(token: string) {
    this.#headers = {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    };
  }

  static async open(token: string): Promise<BenchClient> {
    const client = new BenchClient(token);
    const clientInfo = { name: "bench", version: "1" };
    await client.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    return client;
  }

  async ask(method: string, params: Record<string, unknown>): Promise<string> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++this.#last, method, params });
    const response = await send("POST", PATH, { headers: this.#headers, body });
    const answer = await text(response);
    if (response.statusCode !== 200) throw new Error(`Cannot ask the hub: ${response.statusCode} ${answer}`);
    const id = response.headers["mcp-session-id"];
    if (typeof id === "string") this.#headers["mcp-session-id"] = id;
    return answer;
  }

  /** Opens the stream of events, and reads nothing of it. */
  async listen(): Promise<void> {
    const { signal } = this.#stop;
    const stream = await send("GET", PATH, { headers: this.#headers, signal });
    stream.on("error", () => undefined);
    if (stream.statusCode !== 200) throw new Error(`Cannot open a stream: ${stream.statusCode}`);
  }

  close(): void {
    this.#stop.abort();
  }

  /** Ends the session as well. */
  async end(): Promise<void> {
    this.close();
    await text(await send("DELETE", PATH, { headers: this.#headers }));
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? NaN;
}

/** The times of ways of a call that take turns, in milliseconds. */
async function timesOf(ways: readonly (() => Promise<unknown>)[]): Promise<number[][]> {
  const times: number[][] = ways.map(() => []);
  for (let call = 0; call < WARM_CALLS + CALLS; call++) {
    const turns = call % 2 === 0 ? ways.entries() : [...ways.entries()].reverse();
    for (const [way, run] of turns) {
      const ms = await timeOf(run);
      if (call >= WARM_CALLS) times[way]?.push(ms);
    }
  }
  return times;
}

/** What the hub adds to the median of a call, in milliseconds. */
async function measureCalls(): Promise<number> {
  const client = await BenchClient.open("token-0");
  const remote = agent.computer("laptop");
  const args = { path: "a" };
  const [straight = [], through = []] = await timesOf([
    () => remote.callTool("tool_7", args),
    () => client.ask("tools/call", { name: "tool_7", arguments: args }),
  ]);
  const [bare = []] = await timesOf([async () => await text(await send("GET", "/healthz"))]);
  const names = { "the Agent alone": straight, "the hub": through, "HTTP alone, to no Computer": bare };
  for (const [name, list] of Object.entries(names)) {
    const [p50, p99] = [quantile(list, 0.5), quantile(list, 0.99)];
    console.log(`a call through ${name}: p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`);
  }
  return quantile(through, 0.5) - quantile(straight, 0.5);
}

/** The memory of the hub after it has collected garbage, in MiB. */
async function measureMemory(): Promise<number> {
  Deno.kill(hub.pid, "SIGUSR2");
  await delay(2_000);
  const status = await Deno.readTextFile(`/proc/${hub.pid}/status`);
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

/** Clients that have listed the tools, and wait for changes. */
async function openIdle(): Promise<readonly BenchClient[]> {
  const clients = [];
  for (let index = 0; index < CLIENTS; index++) {
    const client = await BenchClient.open(`token-${index % TOKENS}`);
    await client.listen();
    await client.ask("tools/list", {});
    clients.push(client);
  }
  return clients;
}

// What others have done before is no cost of the clients that are there now.
for (const client of await openIdle()) await client.end();
const beforeMib = await measureMemory();
const clients = await openIdle();
const idleMib = await measureMemory() - beforeMib;
console.log(
  `memory: ${beforeMib.toFixed(1)} MiB, and ${idleMib.toFixed(1)} MiB more with ${CLIENTS} idle clients ` +
    `(below ${GOALS.idleMib} MiB)`,
);
const addedMs = await measureCalls();
console.log(`a call: the hub adds ${addedMs.toFixed(3)} ms to the median (below ${GOALS.callMs} ms)`);

for (const client of clients) client.close();
await agent.close();
for (const computer of computers) computer[Symbol.dispose]();
await hub.close();
await Deno.remove(folder, { recursive: true });
Deno.exit(addedMs < GOALS.callMs && idleMib < GOALS.idleMib ? 0 : 2);
