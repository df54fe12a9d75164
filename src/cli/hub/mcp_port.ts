/** The paths of the hub on the port of its Server. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerByFetch } from "../../http/fetch_adapter.ts";
import type { AccessRule } from "../../http/mcp/access.ts";
import type { HttpHandler } from "../../http/mcp/entrance.ts";
import { httpError } from "../../http/mcp/http_error.ts";
import type { OtherRequest } from "../../server/engine/port.ts";

/** A handler of `node:http`. */
export type OAuthHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: Pick<OtherRequest, "forwarded">,
) => void;

const OAUTH_PATH = /^\/(?:oauth|\.well-known\/(?:oauth-authorization-server|openid-configuration))(?:[/?]|$)/;
const MCP_PATH = /^(?:\/mcp|\/\.well-known\/oauth-protected-resource)(?:[/?]|$)/;
/** The method that opens a stream in MCP of 2026. */
const LISTEN = "subscriptions/listen";

/** Hands the requests of MCP clients, and those for the authorization server, to their handlers, once there are some. */
export class McpPort {
  handler: HttpHandler | undefined;
  /** The authorization server, if the hub has one. */
  oauth: OAuthHandler | undefined;
  readonly #adopting = new WeakMap<Request, () => void>();
  /** The calls under way, without streams. */
  #calls = 0;
  #onIdle: (() => void) | undefined;

  /** Answers a request; `false` for one with another path. */
  serve(request: IncomingMessage, response: ServerResponse, { forwarded, adopt }: OtherRequest): boolean {
    if (this.oauth !== undefined && OAUTH_PATH.test(request.url ?? "")) {
      this.oauth(request, response, { forwarded });
      return true;
    }
    if (!MCP_PATH.test(request.url ?? "")) return false;
    const { method, headers } = request;
    const isTls = "encrypted" in request.socket;
    const scheme = forwarded?.scheme ?? (isTls ? "https:" : "http:");
    const origin = `${scheme}//${forwarded?.host ?? headers.host ?? "localhost"}`;
    const answered = answerByFetch(request, response, {
      origin,
      fetch: (asked) => {
        this.#adopting.set(asked, adopt);
        const remoteAddr = { hostname: forwarded?.address ?? request.socket.remoteAddress };
        return this.handler?.fetch(asked, { remoteAddr }) ??
          Promise.resolve(httpError(503, "Cannot serve this request yet"));
      },
    });
    if (method === "POST" && headers["mcp-method"] !== LISTEN) this.#count(answered);
    return true;
  }

  /** The same rule; the connections of whom it admits are kept, however many others come. */
  keepAdmitted(rule: AccessRule): AccessRule {
    return {
      ...rule,
      admit: async (request, resource) => {
        const answer = await rule.admit(request, resource);
        if (!(answer instanceof Response)) this.#adopting.get(request)?.();
        return answer;
      },
    };
  }

  /** Resolves when no call is under way. */
  untilIdle(): Promise<void> {
    if (this.#calls === 0) return Promise.resolve();
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
