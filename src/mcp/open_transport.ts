/** The transport that a configuration names. What speaks HTTP is loaded with the first server that needs it. */
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import type { ServerAuthorization } from "./auth/server_authorization.ts";
import type { HttpListener } from "./http/requests.ts";
import type { Inflow, Transport } from "./json_rpc.ts";
import type { Journal } from "./journal.ts";
import type { MessageLimits, ServerLimits } from "./limits.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import { StdioTransport } from "./stdio/transport.ts";

export interface TransportContext {
  readonly guard: ProcessGuard;
  readonly log: Logger;
  readonly journal: Journal;
  readonly limits: MessageLimits & Pick<ServerLimits, "stopGraceMs">;
  readonly inflow: Inflow;
  /** Learns what an HTTP answer means for the session. */
  readonly listener: HttpListener;
  readonly authorization?: ServerAuthorization | undefined;
}

/** Loads what the transport of a configuration needs, and returns a function that opens it. */
export async function prepareTransport(
  config: ResolvedServerConfig,
): Promise<(context: TransportContext) => Transport> {
  if (config.type === "stdio") return (context) => new StdioTransport(config.server_parameters, context);
  if (config.type === "sse") {
    const { SseTransport } = await import("./http/sse.ts");
    return (context) => new SseTransport(config, context);
  }
  const { StreamableTransport } = await import("./http/streamable.ts");
  return (context) => new StreamableTransport(config, context);
}
