/** Links that a program opens to add an MCP server, for the clients that have such links. */
import { UsageError } from "../../../outcome.ts";
import type { GatewayEntry } from "./entry.ts";

export const LINK_CLIENTS = ["cursor", "vscode", "lmstudio"] as const;
export type LinkClient = typeof LINK_CLIENTS[number];

/** What a link adds: a program that the client starts, or a URL of a hub or of a gateway over HTTP. */
export type LinkedEntry = GatewayEntry | { readonly url: string };

/** The link by which a person adds the entry with one click; the client shows it and asks first. */
export function installLink(
  client: LinkClient,
  { name, entry }: { readonly name: string; readonly entry: LinkedEntry },
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

/**
 * The URL of an MCP server as a link may have it.
 *
 * @throws {UsageError} it is none of `http:` or `https:`, or has a password.
 */
export function linkedUrl(raw: string): string {
  const url = URL.parse(raw);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `Cannot make a link to "${raw}": give a URL such as https://hub.example.com/mcp/o/lab`,
    );
  }
  // A link is passed on.
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(`Cannot make a link to "${url.host}": a link is no place for a password`);
  }
  return url.href;
}

function namedQuery(name: string, entry: LinkedEntry): string {
  const config = new TextEncoder().encode(JSON.stringify(entry)).toBase64();
  return `name=${encodeURIComponent(name)}&config=${encodeURIComponent(config)}`;
}
