/** An office as one MCP server for any number of MCP clients. */
import type { Office } from "../agent/toolkit/office.ts";
import { GatewayCore } from "./gateway_core.ts";
import type { Gateway, GatewayOptions } from "./gateway_options.ts";

/**
 * Presents the office of an Agent as an MCP server.
 *
 * @param agent The Agent, which must not be an observer; or a promise, while it is still connecting. Until then the
 *   office is empty.
 */
export function createGateway(agent: Office | Promise<Office>, options: GatewayOptions = {}): Gateway {
  return new GatewayCore(agent, options);
}

/**
 * What serves the clients of a gateway.
 *
 * @throws {TypeError} `gateway` was not made by {@linkcode createGateway}.
 */
export function coreOf(gateway: Gateway): GatewayCore {
  if (gateway instanceof GatewayCore) return gateway;
  throw new TypeError("Cannot serve this gateway: it was not made by createGateway()");
}
