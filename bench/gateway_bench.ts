/**
 * Measures the gateway in front of 50 Computers with 100 tools each: a page of `tools/list` when it is warm, and how much
 * time the gateway adds to a call of its Agent. The ways of a call take turns, so that other load on the machine slows
 * both equally. The client is bare JSON-RPC over the transport of the SDK in memory, so that its checks do not count.
 *
 * ```sh
 * deno run -A bench/gateway_bench.ts   # exit code 2 if a figure is above its goal
 * ```
 */
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { Agent } from "../src/agent/agent.ts";
import { GatewayCore } from "../src/gateway/gateway_core.ts";
import { OWNER } from "../src/http/mcp/access.ts";
import { ScriptedComputer } from "../tests/integration/_scripted_computer.ts";
import { ServerProcess } from "./fixtures/server_process.ts";

const COMPUTERS = 50;
const TOOLS = 100;
const LISTS = 300;
const CALLS = 3_000;
/** The most that a page of the list and a search may take, and that the gateway may add to a call, at the median. */
const GOALS_MS = { list: 5, call: 1, find: 10 } as const;

const server = await ServerProcess.start();
const computers = await Promise.all(Array.from({ length: COMPUTERS }, (_, index) => joinComputer(index)));
const agent = await Agent.connect({ url: server.url, office: "bench", name: "agent" });
const gateway = new GatewayCore(agent, {});
const client = await connect();

function joinComputer(index: number): Promise<ScriptedComputer> {
  const tools = Array.from({ length: TOOLS }, (_, tool) => toolOf(index, tool));
  return ScriptedComputer.join(server.url, {
    office: "bench",
    name: `computer-${index}`,
    answers: {
      "client:get_tools": ({ req_id }) => ({ tools, req_id }),
      "client:tool_call": ({ params }) => ({ content: [{ type: "text", text: JSON.stringify(params) }] }),
    },
  });
}

/** A definition of the usual size, about 700 characters. */
function toolOf(computer: number, tool: number): Record<string, unknown> {
  const property = (
    name: string,
  ) => [name, { type: "string", description: `What ${name} means to the tool.` }];
  return {
    name: `tool_${computer}_${tool}`,
    description: `Does the work number ${tool} of Computer ${computer}, and tells what came of it. `.repeat(
      2,
    ),
    params_schema: {
      type: "object",
      properties: Object.fromEntries(["path", "query", "limit", "format"].map(property)),
      required: ["path"],
    },
    return_schema: null,
    meta: { MCP_TOOL_ANNOTATION: '{"readOnlyHint":true}', a2c_mcp_server: "files" },
  };
}

/** A client that sends a request and resolves to the answer's result. */
async function connect(): Promise<(method: string, params?: Record<string, unknown>) => Promise<unknown>> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const session = await gateway.factory()({ era: "legacy", access: () => OWNER });
  await session.connect(far);
  const waiting = new Map<unknown, (result: unknown) => void>();
  near.onmessage = (message: JSONRPCMessage) => {
    // Over a pipe, the answer would be written as text.
    const text = JSON.stringify(message);
    if (text.length > 0 && "id" in message && "result" in message) waiting.get(message.id)?.(message.result);
  };
  await near.start();
  let last = 0;
  const request = (method: string, params: Record<string, unknown> = {}) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    waiting.set(++last, resolve);
    void near.send({ jsonrpc: "2.0", id: last, method, params });
    return promise;
  };
  const clientInfo = { name: "bench", version: "1" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  await near.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return request;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN;
}

async function measureLists(): Promise<number> {
  const times: number[] = [];
  for (let list = 0; list < LISTS; list++) times.push(await timeOf(() => client("tools/list")));
  return median(times);
}

/** What the gateway adds to the median of a call, in milliseconds. */
async function measureCalls(): Promise<number> {
  const remote = agent.computer("computer-7");
  const args = { path: "a" };
  const ways = [
    () => remote.callTool("tool_7_7", args, { onProgress: () => undefined }),
    () => client("tools/call", { name: "tool_7_7", arguments: args }),
  ];
  const times: number[][] = [[], []];
  for (let call = 0; call < CALLS; call++) {
    const turns = call % 2 === 0 ? ways.entries() : [...ways.entries()].reverse();
    for (const [way, run] of turns) times[way]?.push(await timeOf(run));
  }
  const [straight = NaN, through = NaN] = times.map(median);
  console.log(
    `a call: p50 ${straight.toFixed(3)} ms with the Agent, ${through.toFixed(3)} ms through the gateway`,
  );
  return through - straight;
}

await measureLists();
const { tools } = await client("tools/list") as { tools: unknown[] };
const listMs = await measureLists();
console.log(
  `tools/list: p50 ${listMs.toFixed(3)} ms for ${tools.length} of ${
    COMPUTERS * TOOLS
  } tools (below ${GOALS_MS.list} ms)`,
);
const queries = [
  "read a file",
  "do the work number 7",
  "query with a limit",
  "format the path of computer 33",
];
const finds: number[] = [];
for (let find = 0; find < LISTS; find++) {
  const query = queries[find % queries.length];
  finds.push(await timeOf(() => client("tools/call", { name: "find_tools", arguments: { query } })));
}
const findMs = median(finds.slice(1));
console.log(
  `find_tools: p50 ${findMs.toFixed(3)} ms over ${COMPUTERS * TOOLS} tools (below ${GOALS_MS.find} ms)`,
);
const addedMs = await measureCalls();
console.log(`a call: the gateway adds ${addedMs.toFixed(3)} ms to the median (below ${GOALS_MS.call} ms)`);

await gateway.close();
await agent.close();
for (const computer of computers) computer[Symbol.dispose]();
await server.close();
const isGood = listMs < GOALS_MS.list && findMs < GOALS_MS.find && addedMs < GOALS_MS.call;
Deno.exit(isGood ? 0 : 2);
