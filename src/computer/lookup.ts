/** What is called by a name, or an error that says what there is. */
import type { SupervisedServer } from "../mcp/supervision/server.ts";
import { listWords } from "../spelling.ts";

/**
 * Finds an MCP server.
 *
 * @throws {TypeError} when there is none of that name.
 */
export function findServer<S extends Pick<SupervisedServer, "name">>(name: string, servers: readonly S[]): S {
  const server = servers.find((each) => each.name === name);
  if (server !== undefined) return server;
  const names = listWords(servers.map((each) => each.name));
  throw new TypeError(`Cannot find MCP server "${name}": there is ${names}`);
}
