/** The order of MCP servers on Desktop and Finder (`docs/protocol/desktop.md#server-order`). */
import { compareCodePoints } from "../protocol/names.ts";

/**
 * Orders MCP servers by their latest tool call, most recent first and each once; servers without a call follow in the
 * order of their names.
 *
 * @param servers the names to order
 * @param history the server of each tool call, oldest first
 */
export function orderServers(servers: Iterable<string>, history: readonly string[]): string[] {
  const rest = new Set(servers);
  const ordered: string[] = [];
  for (const server of history.toReversed()) {
    if (rest.delete(server)) ordered.push(server);
  }
  return ordered.concat([...rest].sort(compareCodePoints));
}
