/** Transports to MCP servers over HTTP: Streamable HTTP and Server-Sent Events. */
import {
  type ReconnectionScheduler,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { settledWithin } from "../../async/abortable.ts";
import { createAuthorizedFetch } from "../auth/authorized_fetch.ts";
import type { ServerAuthorization } from "../auth/server_authorization.ts";
import { ConfigurationError } from "../errors.ts";
import type { Transport } from "../json_rpc.ts";
import type { HttpConfig } from "../auth/protected_server.ts";
import { type HttpContext, WatchedFetch } from "./watched_fetch.ts";

const TERMINATE_TIMEOUT_MS = 2_000;

/** A transport, and what closing it takes. */
export interface OpenHttpTransport {
  readonly transport: Transport;
  /** Ends the session if the configuration says so and the server is still there, and closes all sockets. */
  close(state: { readonly isGone: boolean }): Promise<void>;
}

export function openHttpTransport(
  config: HttpConfig,
  context: Omit<HttpContext, "send"> & { readonly authorization?: ServerAuthorization | undefined },
): OpenHttpTransport {
  const url = parseUrl(config.server_parameters.url);
  const headers = toHeaders(config.server_parameters.headers);
  const client = Deno.createHttpClient({});
  const { authorization } = context;
  const send = authorization && createAuthorizedFetch(url, authorization);
  const options = {
    fetch: new WatchedFetch(config, client, { ...context, send }).fetch,
    requestInit: { headers },
  };
  if (config.type === "sse") {
    const transport = new SSEClientTransport(url, options);
    return { transport, close: () => closeAll(transport, client) };
  }
  const { terminate_on_close } = config.server_parameters;
  const reconnections = new Reconnections();
  const transport = new StreamableHTTPClientTransport(url, {
    ...options,
    reconnectionScheduler: reconnections.schedule,
  });
  return {
    transport,
    async close({ isGone }) {
      if (terminate_on_close && !isGone) {
        await settledWithin(transport.terminateSession().catch(() => {}), TERMINATE_TIMEOUT_MS);
      }
      reconnections.close();
      await closeAll(transport, client);
    },
  };
}

/**
 * The timers after which broken streams are opened again. The SDK clears only the last one when it is closed, and sets
 * another one for a stream that was being opened.
 */
class Reconnections {
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;

  readonly schedule: ReconnectionScheduler = (reconnect, delayMs) => {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      reconnect();
    }, delayMs);
    this.#timers.add(timer);
  };

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
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
