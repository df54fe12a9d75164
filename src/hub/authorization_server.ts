/**
 * The authorization server of a hub: MCP clients register, a person consents, and they get tokens for one path of the hub each. It
 * serves `/oauth/…` and `/.well-known/oauth-authorization-server`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../http/mcp/access.ts";
import {
  CALL_SCOPE,
  SCOPES,
  type TokenAccess,
  type TokenRefusal,
  type TokenVerifier,
} from "../http/mcp/resource_server.ts";
import { createHostRule, type HostRule } from "../http/senders.ts";
import type { Forwarded } from "../http/proxies.ts";
import { parseJson } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { ISSUER_METADATA_PATH } from "../protocol/oauth.ts";
import { isLoopback } from "../protocol/server_address.ts";
import { fetchPublic } from "../reach/reach.ts";
import { describeError } from "../text/text.ts";
import { HubAudit } from "./audit.ts";
import { ClientMetadataError, Clients, fullMetadata, parseClientMetadata } from "./clients.ts";
import { type ConsentOptions, Consents } from "./consents.ts";
import { type Exchange, readBody, sendJson, sendPage } from "./exchange.ts";
import { describeToken, findAccessToken, Grants } from "./grants.ts";
import { Invitations } from "./invitations.ts";
import { problemPage } from "./page.ts";
import { ADDRESS_HEADER, OAuthLibrary, PATHS } from "./oauth_library.ts";
import { type Asked, StrangerQuotas } from "../http/quotas.ts";
import { StateFile } from "./state_file.ts";
import { type GrantEndListener, GrantsInUse } from "./grants_in_use.ts";

/** How long a client's metadata document may take, in milliseconds. */
const DOCUMENT_TIMEOUT_MS = 5_000;
/** The longest request for authorization, in characters: it is kept while a person decides. */
const MAX_QUERY_LENGTH = 8_192;
/** What a request for authorization may say; nothing else has a meaning here. */
const AUTHORIZATION_PARAMETERS: readonly string[] = [
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "redirect_uri",
  "resource",
  "response_mode",
  "response_type",
  "state",
];

export interface AuthorizationServerOptions
  extends Pick<ConsentOptions, "resourceOf" | "computersOf" | "operator"> {
  /** The origin by which clients reach the hub, such as `https://hub.example.com`: the issuer. */
  readonly publicUrl: string;
  /** The path of the state file; made when there is none. */
  readonly stateFile: string;
  readonly logger: Logger;
  readonly onGrantEnd?: GrantEndListener | undefined;
  /** The path for clients that name none; `/mcp` by default. */
  readonly defaultResource?: string | undefined;
  /** Reads the metadata document of a client; from the internet alone by default. */
  readonly fetch?: ((url: URL, init: RequestInit & { signal: AbortSignal }) => Promise<Response>) | undefined;
}

type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  context?: { readonly forwarded?: Forwarded | undefined },
) => void;

interface Parts {
  readonly file: StateFile;
  readonly audit: HubAudit;
  readonly clients: Clients;
  readonly grants: Grants;
  readonly library: OAuthLibrary;
  readonly quotas: StrangerQuotas;
}

export class AuthorizationServer implements Disposable {
  /** Verifies the tokens of grants. */
  readonly tokens: TokenVerifier;
  readonly #options: AuthorizationServerOptions;
  readonly #parts: Parts;
  readonly #inUse: GrantsInUse;
  readonly #isHostAllowed: HostRule;
  readonly #consents: Consents;
  #isClosed = false;

  private constructor(options: AuthorizationServerOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.tokens = {
      issuer: options.publicUrl,
      verify: (token, resource) => Promise.resolve(this.#decide(token, resource)),
    };
    this.#inUse = new GrantsInUse({ ...parts, onEnd: options.onGrantEnd ?? (() => {}) });
    this.#isHostAllowed = createHostRule({
      allowed: [new URL(options.publicUrl).hostname],
      isOpenToOthers: true,
    });
    this.#consents = new Consents({ ...options, ...parts, invitations: new Invitations(parts.file) });
  }

  get quotas(): StrangerQuotas {
    return this.#parts.quotas;
  }

  /**
   * Opens the state file, and gets ready to serve.
   *
   * @throws {StateFileError} when the state file cannot be opened.
   */
  static async open(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
    const { publicUrl, stateFile, logger, resourceOf, defaultResource = `${publicUrl}/mcp` } = options;
    if (new URL(publicUrl).origin !== publicUrl) {
      throw new TypeError(`Cannot use public URL "${publicUrl}": it must be an origin, without a path`);
    }
    const { protocol, hostname } = new URL(publicUrl);
    if (protocol === "http:" && !isLoopback(hostname)) {
      logger.warn("clients send their tokens without encryption: give the hub an https URL", {
        url: publicUrl,
      });
    }
    const file = StateFile.open(stateFile, { logger });
    try {
      const audit = new HubAudit(logger);
      const [clients, grants, quotas] = [new Clients(file), new Grants(file), new StrangerQuotas()];
      const { fetch = fetchPublic } = options;
      const library = await OAuthLibrary.open({
        publicUrl,
        defaultResource,
        keys: file.keys,
        logger,
        stores: {
          file,
          clients,
          revoke(grant) {
            if (grants.revoke(grant)) {
              audit.log.warn("a grant was ended: by its client, a token used twice, or too many tokens", {
                grant,
              });
            }
          },
        },
        resourceOf: (indicator) => URL.canParse(indicator) ? resourceOf(new URL(indicator))?.url : undefined,
        mayFetch: (address) => quotas.take("document", address) === undefined,
        fetchDocument: (url) => fetch(url, { signal: AbortSignal.timeout(DOCUMENT_TIMEOUT_MS) }),
        onRefused: ({ error, description, client, ...refusal }) =>
          audit.refused({ ...refusal, client_id: client, error, reason: description }),
        errorPage(context, { error, description }) {
          const why = PROBLEMS[error] ?? `The request of the client is wrong (${description || error})`;
          const text = `${why}. Connect the client again from its own settings.`;
          // The library means some errors, such as a consent that is missing, for a redirect alone.
          if (context.status < 400) context.status = 400;
          const page = problemPage({ status: context.status, title: "Cannot connect the client", text });
          for (const [name, value] of Object.entries(page.headers)) context.set(name, value);
          context.body = page.html;
        },
      });
      return new AuthorizationServer(options, { file, clients, grants, library, quotas, audit });
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Serves a request for a path of the authorization server; others get 404. */
  readonly handler: Handler = (request, response, { forwarded } = {}) => {
    const address = forwarded?.address ?? request.socket.remoteAddress;
    this.#serve({ request, response, address }, forwarded?.host).catch((error) => {
      this.#options.logger.error("a request to the authorization server failed", {
        error: describeError(error),
      });
      if (response.headersSent) return response.destroy();
      sendJson({ response }, 500, { body: { error: "server_error" } });
    });
  };

  /** Finds who a bearer token belongs to; `undefined` when it is not good for this path. */
  verify(token: string, resource: string): Access | undefined {
    const known = findAccessToken(this.#parts.file, token, Date.now());
    if (known === undefined || known.audience !== resource) return undefined;
    const { grant, scopes, expiresAt } = known;
    const { id, client, consentedBy: person, offices, computers } = grant;
    const rights = scopes.includes(CALL_SCOPE) ? grant.rights : "read";
    const signal = this.#inUse.use(grant);
    return signal && { id, client, person, offices, computers, rights, expiresAt, signal };
  }

  #decide(token: string, resource: string): TokenAccess | TokenRefusal {
    const access = this.verify(token, resource);
    // The person has chosen. Asked again in the middle of a call, a client such as mcp-remote never answers that call.
    if (access !== undefined) return { access, mayGrow: false };
    const refused = "the token is not good for this path, or not any more";
    return { refused, log: describeToken(this.#parts.file, token, Date.now()) };
  }

  /** Counts a call of a tool, for the list of grants. */
  countCall(id: string): void {
    this.#inUse.countCall(id);
  }

  /** Stops serving, and closes the state file. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#inUse.close();
    this.#parts.audit.close();
    this.#parts.file[Symbol.dispose]();
  }

  async #serve(exchange: Exchange, forwardedHost: string | undefined): Promise<void> {
    const { request } = exchange;
    const hosts = [request.headers.host, forwardedHost ?? request.headers.host];
    if (!hosts.every((host) => this.#isHostAllowed(host))) {
      return sendJson(exchange, 403, { body: { error: "Host not allowed" } });
    }
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    if (path === ISSUER_METADATA_PATH || path.startsWith(`${ISSUER_METADATA_PATH}/`)) {
      return sendJson(exchange, 200, { body: this.#metadata(), headers: OPEN_TO_PAGES });
    }
    const [, uid] = CONSENT_PATH.exec(path) ?? [];
    const asked = uid === undefined ? ASKED.get(path) : "authorize";
    if (asked !== undefined && request.method !== "OPTIONS" && !this.#admit(exchange, asked)) return;
    if (uid !== undefined) {
      this.#speakPublicly(exchange);
      return await this.#consents.answer(exchange, uid);
    }
    if (path === PATHS.register) return await this.#register(exchange);
    if (asked === undefined && !path.startsWith(`${PATHS.authorize}/`)) {
      return sendJson(exchange, 404, { body: { error: "not found" } });
    }
    if (path === PATHS.authorize && query.length > MAX_QUERY_LENGTH) {
      const text = "The client asks with too long an address. Nothing was allowed.";
      return sendPage(exchange, problemPage({ status: 414, title: "Cannot connect the client", text }));
    }
    if (path === PATHS.authorize) request.url = `${path}?${toAuthorizationQuery(query)}`;
    this.#speakPublicly(exchange);
    await this.#parts.library.answer(request, exchange.response);
    if (path === PATHS.token && exchange.response.statusCode === 200) {
      this.#parts.quotas.know(exchange.address);
    }
  }

  /** Answers what is too much, and says so. */
  #admit(exchange: Exchange, asked: Asked): boolean {
    const wait = this.#parts.quotas.take(asked, exchange.address);
    if (wait === undefined) return true;
    this.#parts.audit.refused({ request: asked, reason: "too many requests", address: exchange.address });
    const body = {
      error: "temporarily_unavailable",
      error_description: `too many requests: wait ${wait} seconds`,
    };
    sendJson(exchange, 429, { body, headers: { ...OPEN_TO_PAGES, "retry-after": String(wait) } });
    return false;
  }

  async #register(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    if (request.method === "OPTIONS") {
      return sendJson(exchange, 200, { body: {}, headers: OPEN_TO_PAGES });
    }
    if (request.method !== "POST") return sendJson(exchange, 405, { body: { error: "method not allowed" } });
    const text = await readBody(request);
    try {
      const metadata = parseClientMetadata(parseJson(text ?? ""));
      const id = this.#parts.clients.register(metadata);
      const body = { ...fullMetadata(id, metadata), client_id_issued_at: Math.floor(Date.now() / 1_000) };
      sendJson(exchange, 201, { body, headers: OPEN_TO_PAGES });
    } catch (error) {
      if (!(error instanceof ClientMetadataError)) throw error;
      this.#parts.audit.refused({ request: "register", reason: error.message, address: exchange.address });
      const body = { error: error.code, error_description: error.message };
      sendJson(exchange, 400, { body, headers: OPEN_TO_PAGES });
    }
  }

  #metadata(): Readonly<Record<string, unknown>> {
    const { publicUrl } = this.#options;
    return {
      issuer: publicUrl,
      authorization_endpoint: publicUrl + PATHS.authorize,
      token_endpoint: publicUrl + PATHS.token,
      registration_endpoint: publicUrl + PATHS.register,
      revocation_endpoint: publicUrl + PATHS.revoke,
      scopes_supported: SCOPES,
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    };
  }

  /** Whatever a proxy says, links and cookies are those of the public URL, and the address is that of the exchange. */
  #speakPublicly({ request: { headers }, address }: Exchange): void {
    const { protocol, host } = new URL(this.#options.publicUrl);
    headers["x-forwarded-proto"] = protocol.slice(0, -1);
    headers["x-forwarded-host"] = host;
    headers[ADDRESS_HEADER] = address;
  }
}

/** For people: what is wrong with a request whose refusal is not sent back to its client. */
const PROBLEMS: Readonly<Record<string, string>> = {
  consent_required: "The client wants an answer without a page, but a person has to consent",
  invalid_client: "The hub does not know this client, or cannot read what the client says of itself",
  invalid_redirect_uri: "The client wants you back at an address that it has not registered",
  invalid_target: "The client asks for what is no path of this hub",
};
const CONSENT_PATH = new RegExp(`^${PATHS.consent}/([\\w-]{1,64})$`);
const ASKED: ReadonlyMap<string, Asked> = new Map([
  [PATHS.authorize, "authorize"],
  [PATHS.register, "register"],
  [PATHS.revoke, "token"],
  [PATHS.token, "token"],
]);
/** What a page of any origin may read: nothing of it depends on who asks. */
const OPEN_TO_PAGES = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, content-type, mcp-protocol-version",
} as const;

/**
 * A request for authorization in the words of the hub. Clients ask for scopes that it does not have, for a sign-in of OpenID
 * Connect, or for no scope at all: a person decides what they get.
 */
function toAuthorizationQuery(query: string): string {
  const given = new URLSearchParams(query);
  const known = [...given].filter(([name]) => AUTHORIZATION_PARAMETERS.includes(name));
  const asked = given.getAll("scope").join(" ").split(" ");
  const scopes = SCOPES.filter((scope) => asked.includes(scope));
  known.push(["scope", (scopes.length === 0 ? SCOPES : scopes).join(" ")]);
  if (given.get("prompt") === "none") known.push(["prompt", "none"]);
  return new URLSearchParams(known).toString();
}
