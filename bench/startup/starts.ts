/** Starts many MCP servers at once, with a Computer or with clients of the MCP SDK. */
import { Computer } from "../../src/computer/computer.ts";
import { connectBare, type ServerCommand } from "../fixtures/bare_client.ts";

/** Starts the servers with a Computer, and returns the time until all tools were listed, in milliseconds. */
export async function startWithComputer(servers: readonly ServerCommand[]): Promise<number> {
  const entries = servers.map((
    server_parameters,
    index,
  ) => [`server-${index}`, { type: "stdio", server_parameters }]);
  const startMs = performance.now();
  await using computer = Computer.open({
    name: "computer",
    config: { servers: Object.fromEntries(entries) },
  });
  await computer.ready();
  const ms = performance.now() - startMs;
  const running = [...computer.servers.values()].filter(({ status }) => status === "running").length;
  if (running !== servers.length) {
    throw new TypeError(`Cannot go on: ${running} of ${servers.length} servers run`);
  }
  return ms;
}

/** Starts the servers in parallel with clients of the MCP SDK, lists their tools, and returns the time. */
export async function startBare(servers: readonly ServerCommand[]): Promise<number> {
  const startMs = performance.now();
  const clients = await Promise.all(servers.map(async (server) => {
    const client = await connectBare(server);
    await client.listTools();
    return client;
  }));
  const ms = performance.now() - startMs;
  await Promise.all(clients.map((client) => client.close()));
  return ms;
}

/** A list with the same server `count` times. */
export function times(count: number, server: ServerCommand): ServerCommand[] {
  return Array.from({ length: count }, () => server);
}
