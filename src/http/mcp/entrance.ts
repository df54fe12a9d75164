/**
 * An MCP server over HTTP. Every request passes host, origin, token, path, and the size of its body. A client of 2025 has a
 * session, one of 2026 a server for each request.
 */
import { isJsonContentType, isLegacyRequest, type McpHttpHandler } from "@modelcontextprotocol/server";
import { type Logger, silentLogger } from "../../log.ts";
import { createHostRule, createOriginRule, senderProblem, type SenderRules } from "../senders.ts";
import { digestOf, isToken, readBearer } from "../tokens.ts";
import { acceptedForms, ANY_FORM, inForm, whenDone } from "./answers.ts";
import { httpError } from "./http_error.ts";
import {
  type AdmittedRequest,
  BodyMemory,
  type BodyShare,
  type JsonBody,
  readJsonBody,
} from "./json_body.ts";
import {
  MAX_FIRST_BYTES,
  SESSION_HEADER,
  type SessionFactory,
  type SessionOptions,
  Sessions,
} from "./sessions.ts";

const DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024;
const METHODS: readonly string[] = ["GET", "POST", "DELETE"];

/** Serves requests, in any program that has web-standard ones. */
export interface HttpHandler extends AsyncDisposable {
  /** Answers a request. Never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends all sessions and streams. */
  readonly close: () => Promise<void>;
}

/** Whom to admit. A page of another site never reaches the MCP server, whatever its address resolves to. */
export interface AdmissionOptions {
  /** The token that every request must bear; nobody needs one when absent. */
  readonly token?: string | undefined;
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
  before?(admitted: AdmittedRequest, era: { readonly isLegacy: boolean }): Promise<Response | undefined>;
}

/** Opens a path for a request, or refuses the request. */
type OpenPath = () => McpPath | Response;

export interface Routes {
  /** The paths as a refusal of other ones names them, such as `/mcp and /mcp/search`. */
  readonly names: string;
  /** What opens a path for a request that has arrived; `undefined` when there is nothing. */
  find(pathname: string): OpenPath | undefined;
  /** Ends what serves clients of 2026. */
  close(): Promise<void>;
}

/** Admits requests and serves them. `/healthz` answers without a token. */
export class Entrance implements HttpHandler {
  readonly #routes: Routes;
  readonly #senders: SenderRules;
  /** The digest of the token. */
  readonly #token: Uint8Array | undefined;
  readonly #maxBodyBytes: number;
  readonly #bodies = new BodyMemory();
  readonly #sessions: Sessions;
  readonly #log: Logger;
  #isClosed = false;

  /** Throws a TypeError for an origin that no page can have. */
  constructor(routes: Routes, options: EntranceOptions & SessionOptions) {
    this.#routes = routes;
    const { token, allowedHosts = [], allowedOrigins = [] } = options;
    this.#senders = {
      isHostAllowed: createHostRule({ allowed: allowedHosts }),
      isOriginAllowed: createOriginRule({ allowed: allowedOrigins, allowSameHost: false }),
    };
    this.#token = token === undefined ? undefined : digestOf(token);
    this.#maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
    this.#log = options.logger ?? silentLogger;
    this.#sessions = new Sessions(options);
  }

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    await Promise.all([this.#sessions.close(), this.#routes.close()]);
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  hasSession({ factory }: McpPath): boolean {
    return this.#sessions.has(factory);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      // HTTP/2 has its host in the URL alone, and a URL in absolute form may name another one than Host.
      const [, host] = /^https?:\/\/([^/]*)/.exec(request.url) ?? [];
      const problem = senderProblem(senderHeaders(request), this.#senders, { host });
      if (problem !== undefined) return httpError(403, problem);
      return withCors(await this.#admit(request), request);
    } catch (error) {
      this.#log.error("a request of a client failed", { error: String(error) });
      return httpError(500, "Cannot serve this request: something went wrong in this MCP server");
    }
  };

  async #admit(request: Request): Promise<Response> {
    const { pathname: path } = new URL(request.url);
    const pathname = path.endsWith("/") ? path.slice(0, -1) : path;
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    if (pathname === "/healthz") return new Response("ok\n");
    const refusal = this.#refuseToken(request);
    if (refusal !== undefined) return refusal;
    const open = this.#routes.find(pathname);
    if (open === undefined) {
      return httpError(404, `Cannot serve "${pathname}": there are ${this.#routes.names}`);
    }
    if (METHODS.includes(request.method)) return await this.#serveBody(request, open);
    return httpError(405, "Cannot serve this request: MCP has no such method", {
      headers: { allow: METHODS.join(", ") },
    });
  }

  #refuseToken({ headers }: Request): Response | undefined {
    const shown = readBearer(headers.get("authorization"));
    if (this.#token === undefined || (shown !== undefined && isToken(shown, this.#token))) return undefined;
    const [problem, parameter] = shown === undefined
      ? ["it has no bearer token", ""]
      : ["its bearer token is wrong", ', error="invalid_token"'];
    return httpError(401, `Cannot serve this request: ${problem}`, {
      headers: { "www-authenticate": `Bearer realm="a2c-smcp"${parameter}` },
    });
  }

  /** A body counts until its answer is sent: it is the arguments of a call. */
  async #serveBody(request: Request, open: OpenPath): Promise<Response> {
    using stack = new DisposableStack();
    const read = await readBody(request, {
      maxBytes: this.#maxBodyBytes,
      share: stack.use(this.#bodies.open()),
    });
    if (read instanceof Response) return read;
    const forms = acceptedForms(request);
    const headers = new Headers(request.headers);
    if (forms !== undefined) headers.set("accept", ANY_FORM);
    const { url, method, signal } = request;
    const admitted = { request: new Request(url, { method, headers, signal }), ...read, ending: stack };
    const answer = await this.#serve(open, admitted);
    const response = forms === undefined ? answer : await inForm(answer, { ...forms, signal });
    const ending = stack.move();
    return whenDone(response, () => ending.dispose());
  }

  async #serve(open: OpenPath, admitted: AdmittedRequest): Promise<Response> {
    const { request, body } = admitted;
    const isLegacy = await isLegacyRequest(request, body);
    if (this.#isClosed) return httpError(503, "Cannot serve this request: this MCP server is closing");
    const path = open();
    if (path instanceof Response) return path;
    const refusal = await path.before?.(admitted, { isLegacy });
    if (refusal !== undefined) return refusal;
    return isLegacy
      ? await this.#sessions.fetch(admitted, path.factory)
      : await path.modern.fetch(request, { parsedBody: body });
  }
}

function senderHeaders({ headers }: Request) {
  const [host, origin, site] = ["host", "origin", "sec-fetch-site"].map((name) =>
    headers.get(name) ?? undefined
  );
  return { host, origin, "sec-fetch-site": site };
}

/** Only a POST has a body. One that begins a session is short, which is known before it is read. */
async function readBody(
  request: Request,
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
function withCors(response: Response, request: Request): Response {
  const origin = request.headers.get("origin");
  if (origin === null) return response;
  const headers = new Headers(response.headers);
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
  return new Response(response.body, { status: response.status, headers });
}
