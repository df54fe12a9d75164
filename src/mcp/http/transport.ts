/** Opens transports to MCP servers over HTTP. */
import type { HttpConfig } from "../auth/protected_server.ts";
import type { Transport } from "../json_rpc.ts";
import { type HttpContext, HttpRequests } from "./requests.ts";
import { SseTransport } from "./sse.ts";
import { StreamableTransport } from "./streamable.ts";

/** @throws {ConfigurationError} when the URL cannot be used. */
export function openHttpTransport(config: HttpConfig, context: HttpContext): Transport {
  const http = new HttpRequests(config, context);
  return config.type === "sse"
    ? new SseTransport(http, context.listener)
    : new StreamableTransport(http, context.listener, config.server_parameters.terminate_on_close);
}
