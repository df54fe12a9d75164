/** The gateway over HTTP, for any number of clients: a function from requests to answers. */
import { type Logger, silentLogger } from "../../log.ts";
import { coreOf } from "../gateway.ts";
import type { GatewayCore } from "../gateway_core.ts";
import type { Gateway } from "../gateway_options.ts";
import type { Scope } from "../scope.ts";
import { Admission, type AdmissionOptions } from "./admission.ts";
import { Endpoint } from "./endpoint.ts";
import { httpError } from "./http_error.ts";
import { withBoundedBody } from "./bounded_body.ts";
import { SessionPlaces } from "./session_places.ts";

/** The most paths of Computers that are served at the same time. */
const MAX_ENDPOINTS = 1_000;
const DEFAULT_MAX_SESSIONS = 200;
const DEFAULT_IDLE_MS = 30 * 60_000;
const DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024;

/** How the gateway is served over HTTP. */
export interface HttpHandlerOptions extends AdmissionOptions {
  /**
   * The most sessions of clients that speak MCP of 2025; 200 by default. When all are taken, the one that rests longest
   * ends for a new one.
   */
  readonly maxSessions?: number | undefined;
  /** How long such a session is kept without a request or a stream, in milliseconds; 1,800,000 by default. */
  readonly idleMs?: number | undefined;
  /** The largest body of a request, in bytes; 16 MiB by default. */
  readonly maxBodyBytes?: number | undefined;
  /** Receives log lines; they are dropped by default. */
  readonly logger?: Logger | undefined;
}

/** Serves requests, in any program that has web-standard ones. */
export interface HttpHandler extends AsyncDisposable {
  /** Answers a request. Never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends all sessions and streams. */
  readonly close: () => Promise<void>;
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
  const handler = new Handler(coreOf(gateway), options);
  const close = () => handler.close();
  return { fetch: (request) => handler.fetch(request), close, [Symbol.asyncDispose]: close };
}

class Handler {
  readonly #gateway: GatewayCore;
  readonly #admission: Admission;
  readonly #log: Logger;
  readonly #idleMs: number;
  readonly #maxBodyBytes: number;
  readonly #places: SessionPlaces;
  /** By path; the one that was used least recently first. */
  readonly #endpoints = new Map<string, Endpoint>();
  #isClosed = false;

  constructor(gateway: GatewayCore, options: HttpHandlerOptions) {
    this.#gateway = gateway;
    this.#admission = new Admission(options);
    this.#log = options.logger ?? silentLogger;
    this.#idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
    this.#maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
    this.#places = new SessionPlaces(options.maxSessions ?? DEFAULT_MAX_SESSIONS);
  }

  async fetch(request: Request): Promise<Response> {
    try {
      const refusal = this.#admission.refuseAddress(request);
      if (refusal !== undefined) return refusal;
      return withCors(await this.#serve(request), request);
    } catch (error) {
      this.#log.error("a request of a client failed", { error: String(error) });
      return httpError(500, "Cannot serve this request: something went wrong in the gateway");
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.close()));
    this.#endpoints.clear();
  }

  async #serve(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    if (pathname === "/healthz") return new Response("ok\n");
    const refusal = await this.#admission.refuseToken(request);
    if (refusal !== undefined) return refusal;
    const scope = scopeOf(pathname);
    if (scope === undefined) {
      return httpError(404, `Cannot serve "${pathname}": there are /mcp, /mcp/search and /mcp/c/{computer}`);
    }
    const bounded = await withBoundedBody(request, this.#maxBodyBytes);
    if (bounded instanceof Response) return bounded;
    if (this.#isClosed) return httpError(503, "Cannot serve this request: the gateway is closing");
    const endpoint = this.#endpointOf(scope);
    return await endpoint?.fetch(bounded) ??
      httpError(503, "Cannot serve one more Computer: there are too many");
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
    return new Endpoint(this.#gateway, {
      scope,
      places: this.#places,
      idleMs: this.#idleMs,
      maxBodyBytes: this.#maxBodyBytes,
      logger: this.#log,
    });
  }
}

/** What a path reaches; `undefined` for another path. */
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

/** A page that was admitted may read the answer. */
function withCors(response: Response, request: Request): Response {
  const origin = request.headers.get("origin");
  if (origin === null) return response;
  const headers = new Headers(response.headers);
  headers.set("access-control-allow-origin", origin);
  headers.append("vary", "Origin");
  headers.set("access-control-expose-headers", "mcp-session-id, www-authenticate");
  if (request.method === "OPTIONS") {
    headers.set("access-control-allow-methods", "GET, POST, DELETE");
    headers.set(
      "access-control-allow-headers",
      request.headers.get("access-control-request-headers") ?? "authorization, content-type",
    );
    headers.set("access-control-max-age", "600");
  }
  return new Response(response.body, { status: response.status, headers });
}
