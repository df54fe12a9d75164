/** The paths of the hub on the port of its Server. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerByFetch } from "../../http/fetch_adapter.ts";
import type { AskedRequest } from "../../http/headers.ts";
import { AccessRefusal, type AccessRule } from "../../http/mcp/access.ts";
import type { Entrance } from "../../http/mcp/entrance.ts";
import { httpError } from "../../http/mcp/http_error.ts";
import { originOf } from "../../http/proxies.ts";
import { LISTEN_METHOD } from "../../protocol/mcp.ts";
import type { OtherPaths, OtherRequest } from "../../server/engine/port.ts";
import type { Refusal } from "../../server/observe/meter.ts";
import type { ClientConnections } from "./client_connections.ts";

/** A handler of `node:http`. */
export type OAuthHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: Pick<OtherRequest, "forwarded">,
) => void;

const OAUTH_PATH = /^\/(?:oauth|\.well-known\/(?:oauth-authorization-server|openid-configuration))(?:[/?]|$)/;
const METADATA_PATH = /^\/\.well-known\/oauth-protected-resource(?:[/?]|$)/;
const MCP_PATH = /^(?:\/mcp|\/\.well-known\/oauth-protected-resource)(?:[/?]|$)/;

/** What proxies add. */
const PROXY_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "via",
] as const;

/** What a refused request counts as, by its status. */
const REFUSALS: Readonly<Record<number, Refusal>> = {
  401: "mcp_credentials",
  403: "mcp_credentials",
  429: "mcp_limit",
  503: "mcp_unavailable",
};

/** Hands the requests of MCP clients, and those for the authorization server, to their handlers, once there are some. */
export class McpPort {
  handler: Entrance | undefined;
  /** Called with the reason of each refused request. */
  onRefused: ((refusal: Refusal) => void) | undefined;
  /** The authorization server, if the hub has one. */
  oauth: OAuthHandler | undefined;
  /** The page of the operator, if there are operators. */
  console: OtherPaths | undefined;
  readonly #connections: ClientConnections;
  /** What keeps the connection of a request for a credential; `false` when that one has too many. */
  readonly #keeping = new WeakMap<AskedRequest, (credential: string) => boolean>();
  /** What counts a request as a call under way. */
  readonly #counting = new WeakMap<AskedRequest, () => void>();
  /** The calls under way, without streams. */
  #calls = 0;
  #onIdle: (() => void) | undefined;
  #refusesNew = false;
  #onSignIn: ((origin: string | undefined) => void) | undefined;

  constructor(connections: ClientConnections) {
    this.#connections = connections;
  }

  /** Answers a request; `false` for one with another path. */
  serve(request: IncomingMessage, response: ServerResponse, { forwarded, adopt }: OtherRequest): boolean {
    if (this.console?.(request, response, { forwarded, adopt })) return true;
    if (this.oauth !== undefined && OAUTH_PATH.test(request.url ?? "")) {
      this.oauth(request, response, { forwarded });
      return true;
    }
    if (!MCP_PATH.test(request.url ?? "")) return false;
    const { method, headers, socket } = request;
    const origin = originOf(request, forwarded);
    const told = isFromProxy(request) ? undefined : origin;
    // A client on this machine gets the address of the metadata with this answer, and may read it past its proxy.
    if (METADATA_PATH.test(request.url ?? "")) this.#onSignIn?.(told);
    else response.once("finish", () => response.statusCode === 401 && this.#onSignIn?.(told));
    const isCall = method === "POST" && headers["mcp-method"] !== LISTEN_METHOD;
    const answered = answerByFetch(request, response, {
      origin,
      fetch: (asked) => {
        if (isCall) this.#counting.set(asked, () => this.#count(answered));
        this.#keeping.set(asked, (credential) => {
          const isKept = this.#connections.take(socket, credential);
          if (isKept) adopt();
          return isKept;
        });
        const remoteAddr = { hostname: forwarded?.address ?? socket.remoteAddress };
        return this.handler?.fetch(asked, { remoteAddr }) ??
          Promise.resolve(httpError(503, "Cannot serve this request yet"));
      },
    });
    response.once("finish", () => {
      const refusal = REFUSALS[response.statusCode];
      if (refusal !== undefined) this.onRefused?.(refusal);
    });
    // What is refused keeps no drain from its end.
    if (isCall && !this.#refusesNew) this.#count(answered);
    return true;
  }

  /** The same rule; a bounded number of connections of each credential is kept, however many others come. */
  keepAdmitted(rule: AccessRule): AccessRule {
    return {
      ...rule,
      admit: async (request, resource) => {
        const answer = await rule.admit(request, resource);
        if (answer instanceof Response || this.#keeping.get(request)?.(answer.id) !== false) return answer;
        return tooMany(answer.id);
      },
    };
  }

  /** Calls `warn`, once, when a client begins to sign in by another URL than the one that its token would be for. */
  warnOfOtherOrigin(expected: string, warn: () => void): void {
    this.#onSignIn = (origin) => {
      if (origin === expected) return;
      this.#onSignIn = undefined;
      warn();
    };
  }

  /** Refuses new requests of MCP clients from now on; those under way go on. */
  refuseNew(): void {
    this.#refusesNew = true;
    this.handler?.refuseNew((asked) => this.#counting.get(asked)?.());
  }

  get isIdle(): boolean {
    return this.#calls === 0;
  }

  /** Resolves when no call is under way. */
  untilIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle = resolve);
  }

  #count(answered: Promise<void>): void {
    this.#calls++;
    void answered.finally(() => {
      this.#calls--;
      if (this.#calls === 0) this.#onIdle?.();
    });
  }
}

/** Whether a proxy has sent it: where that one is not trusted, nobody knows which URL the client has used. */
function isFromProxy({ headers }: IncomingMessage): boolean {
  return PROXY_HEADERS.some((name) => headers[name] !== undefined);
}

function tooMany(client: string): AccessRefusal {
  const refusal = new AccessRefusal(503, {
    message:
      "Cannot serve this request: the clients of this credential have too many connections. End others first",
    log: { reason: "too many connections", client },
  });
  refusal.headers.set("retry-after", "60");
  // Kept alive, it would count among the pending connections of its address, and take the place of others there.
  refusal.headers.set("connection", "close");
  return refusal;
}
