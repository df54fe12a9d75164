/** MCP servers over HTTP: Streamable HTTP and Server-Sent Events. */
// @ts-types="@modelcontextprotocol/sdk/client/sse"
import { SSEClientTransport, SseError } from "@modelcontextprotocol/sdk/client/sse.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport";
import { settledWithin } from "../async/abortable.ts";
import type { MCPServerStreamableHttpConfig, MCPSSEConfig } from "../protocol/config.ts";
import { ConfigurationError, ServerAuthorizationError } from "./errors.ts";

/** How long the end of a session may take on the server, in milliseconds. */
const TERMINATE_TIMEOUT_MS = 2_000;

/** A transport over HTTP, and what the SDK's own does not tell: that the server is gone. */
export interface HttpTransport {
  readonly transport: Transport;
  /** Ends the session where the configuration says so, closes the transport and its sockets. */
  close(): Promise<void>;
}

/**
 * Opens the transport of a server over HTTP.
 *
 * @param config With inputs already filled in.
 * @param onGone Called when the server cannot be reached any more, or has forgotten the session.
 */
export function openHttpTransport(
  config: MCPServerStreamableHttpConfig | MCPSSEConfig,
  onGone: (reason: string) => void,
): HttpTransport {
  const url = parseUrl(config.server_parameters.url);
  const client = Deno.createHttpClient({});
  const options = {
    fetch: watchedFetch(client, onGone),
    requestInit: { headers: toHeaders(config.server_parameters.headers) },
  };
  if (config.type === "sse") {
    const transport = new SSEClientTransport(url, options);
    return { transport: watchSse(transport, onGone), close: () => closeAll(transport, client) };
  }
  const transport = new StreamableHTTPClientTransport(url, options);
  return {
    transport,
    async close() {
      if (config.server_parameters.terminate_on_close) {
        await settledWithin(transport.terminateSession().catch(() => {}), TERMINATE_TIMEOUT_MS);
      }
      await closeAll(transport, client);
    },
  };
}

async function closeAll(transport: Transport, client: Deno.HttpClient): Promise<void> {
  await transport.close();
  client.close();
}

/**
 * Turns 401 and 403 into their own error at once, whatever the SDK would do about them, and tells when the server
 * cannot be reached or answers 404: the session is unknown to it.
 */
function watchedFetch(client: Deno.HttpClient, onGone: (reason: string) => void): FetchLike {
  return async (url, init) => {
    const response = await reach(url, { ...init, client }, onGone);
    const { status } = response;
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      throw new ServerAuthorizationError(status, `Cannot use the MCP server: it answers HTTP ${status}`);
    }
    if (status === 404) onGone("HTTP 404");
    return response;
  };
}

async function reach(
  url: string | URL,
  init: RequestInit & { client: Deno.HttpClient },
  onGone: (reason: string) => void,
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted !== true) onGone("not reachable");
    throw error;
  }
}

/** A lost event stream is a lost session: the event source would open another one, which nobody has initialised. */
function watchSse(transport: SSEClientTransport, onGone: (reason: string) => void): Transport {
  let onerror: ((error: Error) => void) | undefined;
  Object.defineProperty(transport, "onerror", {
    get: () => (error: Error) => {
      if (error instanceof SseError) onGone("event stream lost");
      onerror?.(error);
    },
    set: (listener: typeof onerror) => onerror = listener,
  });
  return transport;
}

function toHeaders(headers: Readonly<Record<string, unknown>> | null): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));
}

function parseUrl(raw: string): URL {
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new ConfigurationError(`Cannot use MCP server URL "${raw}": not an http or https URL`);
}
