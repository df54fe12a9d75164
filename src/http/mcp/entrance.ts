/**
 * An MCP server over HTTP. Every request passes host, origin, token, path, and the size of its body. A client of 2025 has a
 * session, one of 2026 a server for each request.
 */
import { onAbort } from "../../async/abortable.ts";
import { Releases } from "../../async/releases.ts";
import { type AskedRequest, pairsOf } from "../headers.ts";
import {
  isJsonContentType,
  isJSONRPCRequest,
  isLegacyRequest,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import { Deadline } from "../../async/deadline.ts";
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import { BoundedLog } from "../../bounded_log.ts";
import { isRecord } from "../../json/json.ts";
import { type LogFields, type Logger, silentLogger } from "../../log.ts";
import { LISTEN_METHOD } from "../../protocol/mcp.ts";
import { describeError } from "../../text/text.ts";
import { RESOURCE_METADATA_PATH } from "../../protocol/oauth.ts";
import { createHostRule, createOriginRule, senderProblem, type SenderRules } from "../senders.ts";
import {
  type Access,
  AccessRefusal,
  type AccessRule,
  anybody,
  firstRule,
  toAuthInfo,
  tokenRule,
} from "./access.ts";
import { acceptedForms, cutOff, inForm, orCutOff, whenDone } from "./answers.ts";
import { httpError } from "./http_error.ts";
import {
  type AdmittedRequest,
  BodyMemory,
  type BodyShare,
  type JsonBody,
  readJsonBody,
} from "./json_body.ts";
import { SESSION_HEADER } from "./session_transport.ts";
import { MAX_FIRST_BYTES, type SessionFactory, type SessionOptions, Sessions } from "./sessions.ts";

const DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024;
const METHODS: readonly string[] = ["GET", "POST", "DELETE"];
/** What they read about without a path. */
const DEFAULT_PATH = "/mcp";

/** The lines of each kind: anybody can cause a refusal. */
const AUDIT_LINES = rateOf(20, 60_000);
const AUDIT = { module: "audit", action: "mcp" } as const;

/** Serves requests, in any program that has web-standard ones. */
export interface HttpHandler extends AsyncDisposable {
  /** Answers a request. Never rejects. The address of its sender stands in log lines, as `Deno.serve` passes it on. */
  readonly fetch: (request: AskedRequest, sender?: RequestSender) => Promise<Response>;
  /** Ends all sessions and streams. */
  readonly close: () => Promise<void>;
}

/** Where a request comes from. */
export interface RequestSender {
  /** An address with a `hostname`, as `Deno.serve` gives it; another one is ignored. */
  readonly remoteAddr?: unknown;
}

/** Whom to admit. A page of another site never reaches the MCP server, whatever its address resolves to. */
export interface AdmissionOptions {
  /** The token of the owner. Without it and without `access`, every request is admitted as the owner's. */
  readonly token?: string | undefined;
  /** Decides who else is admitted, and what each may do. */
  readonly access?: AccessRule | undefined;
  /** The origin at which clients reach the MCP server, such as `https://hub.example.com`; by default that of each request. */
  readonly publicUrl?: string | undefined;
  /** Host names of the MCP server besides `localhost` and loopback addresses: `name` for any port, or `name:port`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of the pages that may use it, such as `https://app.example.com`, besides those of this machine. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Whom to admit, and to what. */
export interface EntranceOptions extends AdmissionOptions {
  /** The largest body of a request, in bytes; 16 MiB by default. */
  readonly maxBodyBytes?: number | undefined;
  /** Receives log lines; they are dropped by default. */
  readonly logger?: Logger | undefined;
}

/** What answers at a path. */
export interface McpPath {
  /** Makes the server of a client of 2025; always the same function. */
  readonly factory: SessionFactory;
  /** Serves clients of 2026. */
  readonly modern: Pick<McpHttpHandler, "fetch">;
  /** Called before each request. An answer refuses it. */
  before?(
    admitted: AdmittedRequest,
    client: { readonly isLegacy: boolean; readonly access: Access },
  ): Promise<Response | undefined>;
}

/** Where a request leads. */
export interface Route {
  /** The path in its canonical spelling: each name in it is one percent-encoded segment. */
  readonly path: string;
  /** Opens the path for a client that has been admitted, or refuses it. */
  open(access: Access): McpPath | Response | Promise<McpPath | Response>;
}

export interface Routes {
  /** The paths as a refusal of other ones names them, such as `/mcp and /mcp/search`. */
  readonly names: string;
  /** Where a path leads; `undefined` when there is nothing. */
  find(pathname: string): Route | undefined;
  /** Ends what serves clients of 2026. */
  close(): Promise<void>;
}

/** Admits requests and serves them. `/healthz` answers without a token. */
export class Entrance implements HttpHandler {
  readonly #routes: Routes;
  readonly #senders: SenderRules;
  readonly #rule: AccessRule;
  readonly #publicOrigin: string | undefined;
  readonly #maxBodyBytes: number;
  readonly #bodies = new BodyMemory();
  readonly #sessions: Sessions;
  readonly #log: Logger;
  /** Refusals by level: clients that begin to sign in leave no line out that is about a wrong credential. */
  readonly #audit: Readonly<Record<AccessRefusal["level"] | "cutOff", BoundedLog>>;
  #onGoingOn: ((request: AskedRequest) => void) | undefined;
  #isClosed = false;

  /** Throws a TypeError for an origin that no page can have. */
  constructor(routes: Routes, options: EntranceOptions & SessionOptions) {
    this.#routes = routes;
    const { publicUrl, allowedHosts = [], allowedOrigins = [] } = options;
    const publicHost = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
    this.#senders = {
      isHostAllowed: createHostRule({ allowed: [...allowedHosts, ...publicHost] }),
      isOriginAllowed: createOriginRule({ allowed: allowedOrigins, allowSameHost: false }),
    };
    this.#rule = ruleOf(options);
    this.#publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
    this.#maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
    this.#log = options.logger ?? silentLogger;
    const auditLog = (about: string) =>
      new BoundedLog(this.#log, { buckets: [new TokenBucket(AUDIT_LINES)], about, fields: AUDIT });
    this.#audit = {
      info: auditLog("MCP clients without a credential"),
      warn: auditLog("refused MCP clients"),
      cutOff: auditLog("MCP clients whose access has ended"),
    };
    this.#sessions = new Sessions(options);
  }

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    for (const log of Object.values(this.#audit)) log.close();
    await Promise.all([this.#sessions.close(), this.#routes.close()]);
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Refuses new requests from now on. Those under way go on, with the answers of their clients to what they ask.
   *
   * @param onGoingOn Called with each request that is not refused.
   */
  refuseNew(onGoingOn: (request: AskedRequest) => void): void {
    this.#onGoingOn = onGoingOn;
  }

  /** How many sessions there are, of all paths. */
  get sessions(): number {
    return this.#sessions.size;
  }

  hasSession({ factory }: McpPath): boolean {
    return this.#sessions.has(factory);
  }

  readonly fetch = async (request: AskedRequest, sender?: RequestSender): Promise<Response> => {
    try {
      // HTTP/2 has its host in the URL alone, and a URL in absolute form may name another one than Host.
      const [, host, path = ""] = /^https?:\/\/([^/]*)([^?#]*)/.exec(request.url) ?? [];
      const problem = senderProblem(senderHeaders(request), this.#senders, { host });
      if (problem !== undefined) return httpError(403, problem);
      return withCors(await this.#admit(request, { path, sender: fieldsOf(sender) }), request);
    } catch (error) {
      this.#log.error("a request of a client failed", { error: String(error) });
      return httpError(500, "Cannot serve this request: something went wrong in this MCP server");
    }
  };

  async #admit(
    request: AskedRequest,
    { path, sender }: { readonly path: string; readonly sender: LogFields },
  ): Promise<Response> {
    const pathname = path.endsWith("/") ? path.slice(0, -1) : path;
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    if (pathname === "/healthz") return new Response("ok\n");
    if (pathname === RESOURCE_METADATA_PATH || pathname.startsWith(`${RESOURCE_METADATA_PATH}/`)) {
      return this.#describe(pathname, request);
    }
    const route = this.#routes.find(pathname);
    const access = await this.#rule.admit(request, this.#urlOf(route?.path ?? pathname, request));
    if (access instanceof Response) {
      return this.#refused(access, { path: route?.path ?? pathname, ...sender });
    }
    if (route === undefined) {
      return httpError(404, `Cannot serve "${pathname}": there are ${this.#routes.names}`);
    }
    if (METHODS.includes(request.method)) {
      const fields = { client: access.id, path: route.path, ...sender };
      return await this.#serveBody(request, { route, access, fields });
    }
    return httpError(405, "Cannot serve this request: MCP has no such method", {
      headers: { allow: METHODS.join(", ") },
    });
  }

  #urlOf(path: string, { url }: AskedRequest): string {
    return `${this.#publicOrigin ?? new URL(url).origin}${path}`;
  }

  /** What clients read before they have a token. It says the same of each path that could exist. */
  #describe(pathname: string, request: AskedRequest): Response {
    const path = pathname.slice(RESOURCE_METADATA_PATH.length);
    const route = this.#routes.find(path === "" ? DEFAULT_PATH : path);
    const resource = route && this.#urlOf(route.path, request);
    if (resource === undefined || this.#rule.metadata === undefined) {
      return httpError(404, `Cannot describe "${path}": there are ${this.#routes.names}`);
    }
    if (request.method === "GET" || request.method === "HEAD") {
      return Response.json(this.#rule.metadata(resource));
    }
    return httpError(405, "Cannot serve this request: metadata is only read", {
      headers: { allow: "GET, HEAD" },
    });
  }

  /** The same refusal, with an audit line when the client lacks a right. */
  #refused(refusal: Response, fields: LogFields): Response {
    if (refusal instanceof AccessRefusal) {
      const { level, log } = refusal;
      this.#audit[level].write(level, "refused an MCP client", { ...log, ...fields, ...AUDIT });
    }
    return refusal;
  }

  /** A body counts until its answer is sent: it is the arguments of a call. */
  async #serveBody(request: AskedRequest, { route, access, fields }: Admitted): Promise<Response> {
    using stack = new Releases();
    const read = await readBody(request, {
      maxBytes: this.#maxBodyBytes,
      share: stack.use(this.#bodies.open()),
    });
    if (read instanceof Response) return read;
    const forms = acceptedForms(request);
    const { method } = request;
    const isStream = method === "GET" || request.headers.get("mcp-method") === LISTEN_METHOD;
    const until = endOf(access, { isStream, stack });
    stack.use(onAbort(until, () => {
      // A stream whose token expires is opened again with the next one.
      if (!access.endsCalls && !access.signal?.aborted) return;
      const reason = describeError(until?.reason);
      this.#audit.cutOff.write("info", "cut off an MCP client", { reason, ...fields, ...AUDIT });
    }));
    const admitted = { request, ...read, forms, until, ending: stack };
    const formed = await this.#serve(admitted, { route, access, fields });
    const ending = stack.move();
    return whenDone(formed, () => ending[Symbol.dispose](), {
      until,
      last: isStream ? undefined : () => cutOff(read.body),
    });
  }

  async #serve(
    admitted: AdmittedRequest,
    { route, access, fields }: Admitted,
  ): Promise<Response> {
    const { request, body, forms } = admitted;
    if (this.#onGoingOn !== undefined) {
      if ([body].flat().some(isNewRequest)) return shuttingDown();
      this.#onGoingOn(request);
    }
    const passed = this.#sessions.isKnown(request) ? undefined : withoutBody(admitted);
    const isLegacy = passed === undefined || await isLegacyRequest(passed, body);
    const path = await route.open(access);
    if (path instanceof Response) return this.#refused(path, fields);
    const refusal = await path.before?.(admitted, { isLegacy, access });
    if (refusal !== undefined) return this.#refused(refusal, fields);
    if (this.#isClosed) return closing();
    if (isLegacy) {
      return await this.#sessions.fetch(admitted, { factory: path.factory, access });
    }
    const made = await path.modern.fetch(passed, { parsedBody: body, authInfo: toAuthInfo(access) });
    return forms === undefined ? made : await inForm(orCutOff(made, admitted), forms);
  }
}

/** A client that pings waits for the answer to something else, and one of 2026 goes on with a call by the state of it. */
function isNewRequest(message: unknown): boolean {
  return isJSONRPCRequest(message) && message.method !== "ping" &&
    message.params?.["requestState"] === undefined;
}

function shuttingDown(): Response {
  return httpError(503, "Cannot serve this request: the MCP server shuts down. Try again in a moment", {
    headers: { "retry-after": "1" },
  });
}

function closing(): Response {
  return httpError(503, "Cannot serve this request: this MCP server is closing");
}

/** The same request for who must not read its body again. */
function withoutBody({ request: { url, method, headers, signal: gone }, until }: AdmittedRequest): Request {
  const signal = until === undefined ? gone : AbortSignal.any([gone, until]);
  return new Request(url, { method, headers: pairsOf(headers), signal });
}

interface Admitted {
  readonly route: Route;
  readonly access: Access;
  /** Who asks, for lines of the log. */
  readonly fields: LogFields;
}

function fieldsOf({ remoteAddr }: RequestSender = {}): LogFields {
  const address = isRecord(remoteAddr) ? remoteAddr["hostname"] : undefined;
  return typeof address === "string" ? { address } : {};
}

/** @throws {TypeError} when clients could not tell which resource their token is for. */
function ruleOf({ token, access, publicUrl }: AdmissionOptions): AccessRule {
  if (access?.metadata !== undefined && publicUrl === undefined) {
    throw new TypeError("Cannot admit clients by tokens for this MCP server: its public URL is required");
  }
  if (access === undefined) return token === undefined ? anybody : tokenRule(token);
  return token === undefined ? access : firstRule([tokenRule(token), access]);
}

/**
 * What ends an answer: a credential that is revoked ends all. One that expires and that its client renews ends streams
 * alone, since a call may take longer than a token lasts.
 */
function endOf(
  { expiresAt, endsCalls, signal }: Access,
  { isStream, stack }: { readonly isStream: boolean; readonly stack: Releases },
): AbortSignal | undefined {
  if (expiresAt === undefined || !(isStream || endsCalls)) return signal;
  const reason = () => new DOMException("The credential of the client has expired", "TimeoutError");
  return stack.use(new Deadline(expiresAt - Date.now(), { reason, signal })).signal;
}

function senderHeaders({ headers }: AskedRequest) {
  const get = (name: string) => headers.get(name) ?? undefined;
  return { host: get("host"), origin: get("origin"), "sec-fetch-site": get("sec-fetch-site") };
}

/** Only a POST has a body. One that begins a session is short, which is known before it is read. */
async function readBody(
  request: AskedRequest,
  { maxBytes, share }: { readonly maxBytes: number; readonly share: BodyShare },
): Promise<JsonBody | Response> {
  const { method, headers } = request;
  if (method !== "POST") return { body: undefined, sizeBytes: 0 };
  if (!isJsonContentType(headers.get("content-type"))) {
    return httpError(415, "Cannot serve this request: its content type must be application/json");
  }
  const isFirst = !headers.has(SESSION_HEADER) && !headers.has("mcp-method");
  return await readJsonBody(request, {
    maxBytes: isFirst ? Math.min(maxBytes, MAX_FIRST_BYTES) : maxBytes,
    share,
  });
}

/** A page that was admitted may read the answer. */
function withCors(response: Response, request: AskedRequest): Response {
  const origin = request.headers.get("origin");
  if (origin === null) return response;
  const headers = new Headers(pairsOf(response.headers));
  headers.set("access-control-allow-origin", origin);
  headers.append("vary", "Origin");
  headers.set("access-control-expose-headers", "mcp-session-id, www-authenticate");
  if (request.method === "OPTIONS") {
    headers.set("access-control-allow-methods", METHODS.join(", "));
    headers.set(
      "access-control-allow-headers",
      request.headers.get("access-control-request-headers") ?? "authorization, content-type",
    );
    headers.set("access-control-max-age", "600");
  }
  return new Response(response.body, { status: response.status, headers: pairsOf(headers) });
}
