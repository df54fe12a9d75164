/** The gateway over HTTP, for any number of clients: a function from requests to answers. */
import { type Logger, silentLogger } from "../../log.ts";
import {
  Entrance,
  type EntranceOptions,
  type HttpHandler,
  type ServeRequest,
} from "../../http/mcp/entrance.ts";
import { httpError } from "../../http/mcp/http_error.ts";
import { Sessions } from "../../http/mcp/sessions.ts";
import { coreOf } from "../gateway.ts";
import type { GatewayCore } from "../gateway_core.ts";
import type { Gateway } from "../gateway_options.ts";
import type { Scope } from "../scope.ts";
import { Endpoint } from "./endpoint.ts";

const MAX_ENDPOINTS = 1_000;

/** How the gateway is served over HTTP. */
export interface HttpHandlerOptions extends EntranceOptions {
  /**
   * The most sessions of clients that speak MCP of 2025; 200 by default. When all are taken, the one that rests longest
   * ends for a new one.
   */
  readonly maxSessions?: number | undefined;
  /** How long such a session is kept without a request or a stream, in milliseconds; 1,800,000 by default. */
  readonly idleMs?: number | undefined;
}

/**
 * Serves a gateway over Streamable HTTP: everything at `/mcp`, everything by searching at `/mcp/search`, and one Computer
 * at `/mcp/c/{computer}`. `Host` and `Origin` are always checked. `/healthz` answers without a token.
 *
 * @example
 * ```ts
 * import type { Gateway } from "@a2c-smcp/sdk/gateway";
 * import { createHttpHandler } from "@a2c-smcp/sdk/gateway";
 *
 * export function serve(gateway: Gateway): Deno.HttpServer {
 *   const { fetch } = createHttpHandler(gateway, { token: Deno.env.get("GATEWAY_TOKEN") });
 *   return Deno.serve({ hostname: "127.0.0.1", port: 4000 }, fetch);
 * }
 * ```
 */
export function createHttpHandler(gateway: Gateway, options: HttpHandlerOptions = {}): HttpHandler {
  return new Handler(coreOf(gateway), options);
}

class Handler implements HttpHandler {
  readonly #gateway: GatewayCore;
  readonly #entrance: Entrance;
  readonly #log: Logger;
  readonly #sessions: Sessions;
  /** By path; the one that was used least recently first. */
  readonly #endpoints = new Map<string, Endpoint>();
  #isClosed = false;

  constructor(gateway: GatewayCore, options: HttpHandlerOptions) {
    this.#gateway = gateway;
    const paths = "/mcp, /mcp/search and /mcp/c/{computer}";
    this.#entrance = new Entrance({ names: paths, find: (pathname) => this.#find(pathname) }, options);
    this.#log = options.logger ?? silentLogger;
    this.#sessions = new Sessions(options);
  }

  readonly fetch = (request: Request): Promise<Response> => this.#entrance.fetch(request);

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    const endpoints = [...this.#endpoints.values()];
    await Promise.all([this.#sessions.close(), ...endpoints.map((endpoint) => endpoint.close())]);
    this.#endpoints.clear();
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #find(pathname: string): ServeRequest | undefined {
    const scope = scopeOf(pathname);
    return scope && (async (admitted) => {
      if (this.#isClosed) return httpError(503, "Cannot serve this request: the gateway is closing");
      return await this.#endpointOf(scope)?.fetch(admitted) ??
        httpError(503, "Cannot serve one more Computer: there are too many");
    });
  }

  #endpointOf(scope: Scope): Endpoint | undefined {
    const key = JSON.stringify(scope);
    const endpoint = this.#endpoints.get(key) ?? this.#newEndpoint(scope);
    if (endpoint === undefined) return undefined;
    this.#endpoints.delete(key);
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  /** Anybody can make up names of Computers, so a path that nobody uses gives way to a new one. */
  #newEndpoint(scope: Scope): Endpoint | undefined {
    if (this.#endpoints.size >= MAX_ENDPOINTS) {
      const [key, unused] = [...this.#endpoints].find(([, { isIdle }]) => isIdle) ?? [];
      if (key === undefined) return undefined;
      this.#endpoints.delete(key);
      void unused?.close();
    }
    return new Endpoint(this.#gateway, { scope, sessions: this.#sessions, logger: this.#log });
  }
}

function scopeOf(pathname: string): Scope | undefined {
  if (pathname === "/mcp") return { kind: "all" };
  if (pathname === "/mcp/search") return { kind: "search" };
  const [, name] = /^\/mcp\/c\/([^/]+)$/.exec(pathname) ?? [];
  if (name === undefined) return undefined;
  try {
    return { kind: "computer", computer: decodeURIComponent(name) };
  } catch {
    return undefined;
  }
}
