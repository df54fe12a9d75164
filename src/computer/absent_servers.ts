/** Which MCP servers are not there now, for whoever misses what they have. */
import type { SupervisedServer } from "../mcp/supervision/server.ts";

/** How many servers are named; the others are counted. */
const MAX_NAMED = 5;

/** A server, as far as it is looked at. */
type AbsentServer = Pick<SupervisedServer, "name" | "status" | "standing">;

/** The end of a message that says that something is not there; empty when every server runs. */
export function absentServersHint(
  { servers }: { readonly servers: readonly AbsentServer[] },
): string {
  const absent = servers.filter(({ status }) => status !== "running");
  if (absent.length === 0) return "";
  const named = absent.slice(0, MAX_NAMED).map(({ name, standing }) => `${name} (${standing})`);
  const others = absent.length - named.length;
  return `; not running: ${named.join(", ")}${others === 0 ? "" : ` and ${others} more`}`;
}
