/**
 * Which files of `src/` one request passes in each role: those with a function that ran more often after it than before. The
 * numbers are those of the coverage that V8 counts. The role runs in this process, the others as bare Socket.IO clients, or
 * as a program of their own.
 *
 * ```sh
 * deno run -A bench/passed_files.ts [server|computer|agent]
 * ```
 */
import { Session } from "node:inspector/promises";
import { fromFileUrl } from "@std/path";
import { io, type Socket } from "socket.io-client";
import { Agent } from "../src/agent/agent.ts";
import { Computer } from "../src/computer/computer.ts";
import { SmcpServer } from "../src/server/server.ts";
import { readPort } from "./fixtures/read_port.ts";
import { ourProgram } from "./relay/servers.ts";

const WARM_UP = 5;
/** The characters of the text in the request and in the answer of a call. */
const TEXT = "x".repeat(200);
const IDS = { agent: "agent", computer: "computer" };
const DOCUMENTS = 20;
const SOURCE = new URL("../src/", import.meta.url).href;

/** Requests by name; each function resolves when its answer has arrived. */
type Ways = Readonly<Record<string, () => Promise<unknown>>>;

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** The files with a function that ran since the last time, and how many of each. */
async function takeFiles(): Promise<ReadonlyMap<string, number>> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const files = new Map<string, number>();
  for (const { url, functions } of result) {
    const count = functions.filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0).length;
    if (url.startsWith(SOURCE) && count > 0) files.set(url.slice(SOURCE.length), count);
  }
  return files;
}

async function printFiles(role: string, ways: Ways): Promise<void> {
  for (const [name, send] of Object.entries(ways)) {
    for (let round = 0; round < WARM_UP; round++) await send();
    await takeFiles();
    await send();
    const files = await takeFiles();
    console.log(`${role}, ${name}: code of ${files.size} files`);
    for (const [file, count] of [...files].sort()) console.log(`  ${file} (${count})`);
  }
}

async function join(url: string, role: "agent" | "computer"): Promise<Socket> {
  const socket = io(`${url}/smcp`, { query: { a2c_version: "0.2.0" }, transports: ["websocket"] });
  await new Promise((resolve) => socket.on("connect", () => resolve(undefined)));
  await socket.emitWithAck("server:join_office", { role, name: role, office_id: "lab" });
  return socket;
}

/** Sends requests as a bare Agent. */
function asking(agent: Socket): (event: string, body?: object) => Promise<unknown> {
  let number = 0;
  return (event, body = {}) => agent.emitWithAck(event, { ...IDS, req_id: `${++number}`, ...body });
}

function answering(computer: Socket): void {
  computer.on("client:tool_call", (_request, ack) => ack({ content: [{ type: "text", text: TEXT }] }));
  computer.on("client:get_finder", ({ req_id }, ack) => ack({ documents: [], total_count: 0, req_id }));
}

async function server(): Promise<void> {
  await using server = await SmcpServer.listen({ port: 0 });
  const [computer, agent] = [await join(server.url, "computer"), await join(server.url, "agent")];
  const ask = asking(agent);
  answering(computer);
  await printFiles("server", {
    "a tool call": () => ask("client:tool_call", { tool_name: "t", params: { TEXT } }),
    "a notification"() {
      const told = new Promise((resolve) => agent.once("notify:update_tool_list", resolve));
      computer.emit("server:update_tool_list", { computer: "computer" });
      return told;
    },
  });
  agent.close();
  computer.close();
}

async function computer(url: string): Promise<void> {
  const script = fromFileUrl(new URL("fixtures/many_resources.ts", import.meta.url));
  const args = ["run", "-A", script, "host", "2", `${DOCUMENTS}`];
  const server_parameters = { command: Deno.execPath(), args };
  const default_tool_meta = { auto_apply: true };
  const config = { servers: { many: { type: "stdio", server_parameters, default_tool_meta } } };
  await using computer = Computer.open({ name: "computer", config });
  await computer.ready();
  await computer.join({ url, office: "lab" });
  const agent = await join(url, "agent");
  const ask = asking(agent);
  const read = { uri: "dpe://host/doc-1/pages/0?format=markdown" };
  await printFiles("computer", {
    "a tool call": () => ask("client:tool_call", { tool_name: "echo", params: { text: TEXT } }),
    "a Finder from the cache": () => ask("client:get_finder", { keywords: ["report"] }),
    "a Desktop from the cache": () => ask("client:get_desktop"),
    "a read of a page": () => ask("client:read_resource", read),
  });
  agent.close();
}

async function agent(url: string): Promise<void> {
  const computer = await join(url, "computer");
  answering(computer);
  await using agent = await Agent.connect({ url, office: "lab", name: "agent" });
  const remote = agent.computer("computer");
  await printFiles("agent", {
    "a tool call": () => remote.callTool("t", { TEXT }),
    "a Finder": () => remote.getFinder(),
  });
  computer.close();
}

async function beside(role: (url: string) => Promise<void>): Promise<void> {
  const { command, args } = ourProgram();
  const process = new Deno.Command(command, { args: [...args], stdout: "piped", stderr: "null" }).spawn();
  try {
    await role(`http://127.0.0.1:${await readPort(process.stdout)}`);
  } finally {
    process.kill("SIGKILL");
  }
}

const roles = { server, computer: () => beside(computer), agent: () => beside(agent) };
for (const [role, run] of Object.entries(roles)) if ((Deno.args[0] ?? role) === role) await run();
Deno.exit(0);
