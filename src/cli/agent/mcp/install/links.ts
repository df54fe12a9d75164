/** Links that a program opens to add an MCP server, for the clients that have such links. */
import type { ClientEntry } from "./entry.ts";

export const LINK_CLIENTS = ["cursor", "vscode", "lmstudio"] as const;
export type LinkClient = typeof LINK_CLIENTS[number];

/** The link by which a person adds the entry with one click; the client shows it and asks first. */
export function installLink(
  client: LinkClient,
  { name, entry }: { readonly name: string; readonly entry: ClientEntry },
): string {
  switch (client) {
    case "cursor":
      return `cursor://anysphere.cursor-deeplink/mcp/install?${namedQuery(name, entry)}`;
    case "lmstudio":
      return `lmstudio://add_mcp?${namedQuery(name, entry)}`;
    case "vscode": {
      const type = "url" in entry ? "http" : "stdio";
      return `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, type, ...entry }))}`;
    }
  }
}

function namedQuery(name: string, entry: ClientEntry): string {
  const config = new TextEncoder().encode(JSON.stringify(entry)).toBase64();
  return `name=${encodeURIComponent(name)}&config=${encodeURIComponent(config)}`;
}
