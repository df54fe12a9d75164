/** Transports to MCP servers over HTTP: Streamable HTTP and Server-Sent Events. */
// @ts-types="@modelcontextprotocol/sdk/client/sse"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
import { settledWithin } from "../../async/abortable.ts";
import { ConfigurationError } from "../errors.ts";
import { createWatchedFetch, type HttpConfig, type HttpContext } from "./watched_fetch.ts";

/** How long the server may take to end the session, in milliseconds. */
const TERMINATE_TIMEOUT_MS = 2_000;
/** How many of the SDK's timers are remembered; most of them have fired long ago. */
const MAX_RECONNECTION_TIMERS = 100;

/** A transport, and what closing it takes. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Ends the session if the configuration says so and the server is still there, and closes all sockets. */
  close(state: { readonly isGone: boolean }): Promise<void>;
}

/** Opens the transport of a server over HTTP. */
export function openHttpTransport(config: HttpConfig, context: HttpContext): OpenTransport {
  const url = parseUrl(config.server_parameters.url);
  const headers = toHeaders(config.server_parameters.headers);
  const client = Deno.createHttpClient({});
  const options = { fetch: createWatchedFetch(config, client, context), requestInit: { headers } };
  if (config.type === "sse") {
    const transport = new SSEClientTransport(url, options);
    return { transport, close: () => closeAll(transport, client) };
  }
  const { terminate_on_close } = config.server_parameters;
  const transport = new StreamableHTTPClientTransport(url, options);
  const clearReconnections = watchReconnections(transport);
  return {
    transport,
    async close({ isGone }) {
      if (terminate_on_close && !isGone) {
        await settledWithin(transport.terminateSession().catch(() => {}), TERMINATE_TIMEOUT_MS);
      }
      await closeAll(transport, client);
      clearReconnections();
    },
  };
}

/**
 * Takes over a private member of the SDK, which sets a timer before it opens a broken stream again: on close it clears
 * only the last of these timers, and it sets another one for a stream that was being opened.
 *
 * @return Clears all timers, and any that is set from then on.
 */
function watchReconnections(transport: StreamableHTTPClientTransport): () => void {
  const timers: number[] = [];
  let isClosed = false;
  Object.defineProperty(transport, "_reconnectionTimeout", {
    get: () => timers.at(-1),
    set(timer: number | undefined) {
      if (isClosed) clearTimeout(timer);
      else if (timer === undefined) timers.pop();
      else timers.push(timer);
      if (timers.length > MAX_RECONNECTION_TIMERS) timers.shift();
    },
  });
  return () => {
    isClosed = true;
    for (const timer of timers) clearTimeout(timer);
  };
}

async function closeAll(transport: Transport, client: Deno.HttpClient): Promise<void> {
  await transport.close();
  client.close();
}

function toHeaders(headers: Readonly<Record<string, unknown>> | null): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));
}

/** The URL may hold secrets, so the message does not show it. */
function parseUrl(raw: string): URL {
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new ConfigurationError("Cannot use the URL of the MCP server: not an http or https URL");
}
