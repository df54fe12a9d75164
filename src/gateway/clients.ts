/** What a client of the gateway calls itself. */
import type { Server } from "@modelcontextprotocol/server";

/** Its own name, such as `Claude`; `undefined` when it has not said one. */
export function nameOfClient(server: Server): string | undefined {
  return server.getClientVersion()?.name || undefined;
}

/** Its own name and version, for the activity log. */
export function describeClient(server: Server): string {
  const { name = "unknown", version = "" } = server.getClientVersion() ?? {};
  return `${name} ${version}`.trim();
}
