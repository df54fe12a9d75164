/** `agent.ts mcp --http`: the gateway over HTTP. */
import { settledWithin } from "../../../async/abortable.ts";
import type { Gateway } from "../../../gateway/gateway_options.ts";
import { createHttpHandler } from "../../../gateway/http/handler.ts";
import type { Logger } from "../../../log.ts";
import { describeError } from "../../../text.ts";
import { UsageError } from "../../outcome.ts";
import type { HttpPlace } from "./options.ts";

/** How it is served. */
export interface HttpServiceOptions extends HttpPlace {
  readonly token: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly logger: Logger;
}

/** How long requests that are being served may take at the end, in milliseconds. */
const SHUTDOWN_MS = 1_000;

/** The addresses that other machines cannot reach. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/;

/**
 * Serves the gateway until `signal` is aborted.
 *
 * @throws {UsageError} other machines could use it without a token, or the port cannot be listened on.
 */
export async function serveOnHttp(
  gateway: Gateway,
  options: HttpServiceOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { host, port, token, logger, signal } = options;
  if (!LOOPBACK.test(host) && token === undefined) {
    throw new UsageError(
      `Cannot listen on "${host}": other machines could use the office without a token; set A2C_GATEWAY_TOKEN`,
    );
  }
  await using handler = createHttpHandler(gateway, options);
  const cut = new AbortController();
  const place = { hostname: host.replace(/^\[|\]$/g, ""), port, signal: cut.signal };
  const server = listen(place, { handler: handler.fetch, logger });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  // Streams end first: a server that shuts down waits for them.
  await handler.close();
  await settledWithin(server.shutdown(), SHUTDOWN_MS);
  // A client may never end its request.
  cut.abort();
  await server.finished;
}

function listen(
  place: { readonly hostname: string; readonly port: number; readonly signal: AbortSignal },
  { handler, logger }: { readonly handler: (request: Request) => Promise<Response>; readonly logger: Logger },
): Deno.HttpServer {
  const onListen = ({ hostname, port }: Deno.NetAddr) => {
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    logger.info("serving MCP clients", { url: `http://${host}:${port}/mcp` });
  };
  try {
    return Deno.serve({ ...place, onListen }, handler);
  } catch (cause) {
    throw new UsageError(`Cannot listen on "${place.hostname}:${place.port}": ${describeError(cause)}`, {
      cause,
    });
  }
}
