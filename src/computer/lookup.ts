/** What is called by a name, or an error that says what there is. */
import type { SupervisedServer } from "../mcp/supervision/server.ts";
import type { MCPServerInput } from "../protocol/config.ts";
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

/**
 * Finds the input of a configuration.
 *
 * @throws {TypeError} when there is none of that id.
 */
export function findInput(id: string, inputs: readonly MCPServerInput[]): MCPServerInput {
  const input = inputs.find((each) => each.id === id);
  if (input !== undefined) return input;
  const ids = listWords(inputs.map((each) => each.id));
  throw new TypeError(`Cannot find input "${id}": the configuration has ${ids}`);
}
