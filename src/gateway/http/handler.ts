/** The gateway over HTTP, for any number of clients: a function from requests to answers. */
import { type Logger, silentLogger } from "../../log.ts";
import { Entrance, type EntranceOptions, type HttpHandler, type Route } from "../../http/mcp/entrance.ts";
import { refuseOffice } from "../../http/mcp/access.ts";
import { httpError } from "../../http/mcp/http_error.ts";
import { coreOf, type GatewayCore } from "../gateway_core.ts";
import { type Gateway, type Scope, scopeFor } from "../gateway_options.ts";
import { Endpoint } from "./endpoint.ts";

const MAX_ENDPOINTS = 1_000;

/** How the gateway is served over HTTP. */
export interface HttpHandlerOptions extends EntranceOptions {
  /** The id of the office, which a client's access must be for; by default that of the Agent, once it has joined. */
  readonly office?: string | undefined;
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
  return new Endpoints(coreOf(gateway), options).entrance;
}

class Endpoints {
  readonly entrance: Entrance;
  readonly #gateway: GatewayCore;
  readonly #office: string | undefined;
  readonly #log: Logger;
  /** By path, and by the Computers that exist for its clients; the one that was used least recently first. */
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(gateway: GatewayCore, options: HttpHandlerOptions) {
    this.#gateway = gateway;
    this.#office = options.office;
    this.#log = options.logger ?? silentLogger;
    const names = "/mcp, /mcp/search and /mcp/c/{computer}";
    this.entrance = new Entrance({
      names,
      find: (pathname) => this.#find(pathname),
      close: () => this.#close(),
    }, options);
  }

  async #close(): Promise<void> {
    await Promise.all(this.#endpoints.values().map((endpoint) => endpoint.close()));
    this.#endpoints.clear();
  }

  #find(pathname: string): Route | undefined {
    const scope = scopeOf(pathname);
    if (scope === undefined) return undefined;
    const tooMany = () => httpError(503, "Cannot serve one more Computer: there are too many");
    return {
      path: pathOf(scope),
      open: (access) =>
        refuseOffice(access, this.#office ?? this.#gateway.office) ?? this.#open(scopeFor(scope, access)) ??
          tooMany(),
    };
  }

  #open(scope: Scope): Endpoint | undefined {
    const key = JSON.stringify(scope);
    const endpoint = this.#endpoints.get(key) ?? this.#create(scope);
    if (endpoint === undefined) return undefined;
    this.#endpoints.delete(key);
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  /** Anybody can make up names of Computers, so a path that nobody uses gives way to a new one. */
  #create(scope: Scope): Endpoint | undefined {
    if (this.#endpoints.size >= MAX_ENDPOINTS) {
      const [key, unused] = this.#endpoints.entries().find(([, each]) =>
        each.isIdle && !this.entrance.hasSession(each)
      ) ?? [];
      if (key === undefined) return undefined;
      this.#endpoints.delete(key);
      void unused?.close();
    }
    return new Endpoint(this.#gateway, { scope, logger: this.#log });
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

function pathOf(scope: Scope): string {
  if (scope.kind === "computer") return `/mcp/c/${encodeURIComponent(scope.computer.toWellFormed())}`;
  return scope.kind === "search" ? "/mcp/search" : "/mcp";
}
