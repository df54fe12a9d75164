/** The gateway over HTTP, for any number of clients: a function from requests to answers. */
import { type Logger, silentLogger } from "../../log.ts";
import { Entrance, type EntranceOptions, type HttpHandler, type Route } from "../../http/mcp/entrance.ts";
import { refuseComputer } from "../../http/mcp/access.ts";
import { httpError } from "../../http/mcp/http_error.ts";
import { coreOf } from "../gateway_core.ts";
import { type Gateway, type Scope, scopeFor } from "../gateway_options.ts";
import type { Seats } from "../seats.ts";
import { Endpoint } from "./endpoint.ts";
import { buildPath, parsePath } from "./paths.ts";
import { GivenOffices, SeatedOffices, type ServedOffice, type ServedOffices } from "./served_offices.ts";

const MAX_ENDPOINTS = 1_000;

/** How the gateway is served over HTTP. */
export interface HttpHandlerOptions extends EntranceOptions {
  /** The id of the office, which a client's access must be for; by default that of the Agent, once it has joined. */
  readonly office?: string | undefined;
  /** Gateways of single offices, by the id of the office: each is served at `/mcp/o/{office}` as well. */
  readonly offices?: Readonly<Record<string, Gateway>> | undefined;
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
  return new Endpoints(new GivenOffices(coreOf(gateway), options), options).entrance;
}

/**
 * Serves the offices of seats over Streamable HTTP: each at `/mcp/o/{office}`, also by searching and by Computer, and all
 * offices that a client's access names at `/mcp`.
 */
export function createSeatsHandler(seats: Seats, options: HttpHandlerOptions): Entrance {
  return new Endpoints(new SeatedOffices(seats, options.logger), options).entrance;
}

class Endpoints {
  readonly entrance: Entrance;
  readonly #offices: ServedOffices;
  readonly #log: Logger;
  /** By path, and by the Computers that exist for its clients; the one that was used least recently first. */
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(offices: ServedOffices, options: HttpHandlerOptions) {
    this.#offices = offices;
    this.#log = options.logger ?? silentLogger;
    this.entrance = new Entrance({
      names: offices.paths,
      find: (pathname) => this.#find(pathname),
      close: () => this.#close(),
    }, options);
  }

  async #close(): Promise<void> {
    await Promise.all(this.#endpoints.values().map((endpoint) => endpoint.close()));
    this.#endpoints.clear();
    await this.#offices.close();
  }

  #find(pathname: string): Route | undefined {
    const place = parsePath(pathname);
    if (place === undefined || (place.office !== undefined && !this.#offices.isByName)) return undefined;
    const tooMany = () => httpError(503, "Cannot serve one more Computer: there are too many");
    return {
      path: buildPath(place),
      open: (access) => {
        const { office, scope } = place;
        const refusal = scope.kind === "computer" ? refuseComputer(access, scope.computer) : undefined;
        // A client that is refused takes no seat.
        const served = refusal ?? this.#offices.open(office, access);
        if (served instanceof Response) return served;
        return this.#open(served, scopeFor(scope, access)) ?? tooMany();
      },
    };
  }

  #open(served: ServedOffice, scope: Scope): Endpoint | undefined {
    const key = JSON.stringify([served.key, scope]);
    const endpoint = this.#known(key, served) ?? this.#create(served, { scope, key });
    if (endpoint === undefined) return undefined;
    this.#endpoints.delete(key);
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  #known(key: string, served: ServedOffice): Endpoint | undefined {
    const endpoint = this.#endpoints.get(key);
    return endpoint?.served === served ? endpoint : undefined;
  }

  /** Anybody can make up names of Computers, so a path that nobody uses gives way to a new one. */
  #create(
    served: ServedOffice,
    { scope, key }: { readonly scope: Scope; readonly key: string },
  ): Endpoint | undefined {
    if (this.#endpoints.size >= MAX_ENDPOINTS) {
      const [unused] = this.#endpoints.entries().find(([, each]) =>
        each.isIdle && !this.entrance.hasSession(each)
      ) ?? [];
      if (unused === undefined) return undefined;
      this.#drop(unused);
    }
    const endpoint = new Endpoint(served, { scope, logger: this.#log });
    served.ended?.addEventListener("abort", () => {
      if (this.#endpoints.get(key) === endpoint) this.#drop(key);
    }, { once: true });
    return endpoint;
  }

  #drop(key: string): void {
    const endpoint = this.#endpoints.get(key);
    this.#endpoints.delete(key);
    void endpoint?.close();
  }
}
