/** Errors of connecting to a Server: the cause and the remedy. */
import { isRecord, parseJson } from "../json/json.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import {
  AuthenticationError,
  ProtocolVersionError,
  ServerUnreachableError,
  useProtocol,
  type VersionRefusal,
} from "./errors.ts";
import { networkReason, type Reason } from "./http_request.ts";
import { shorten } from "../text/text.ts";
import { highestMinorWithin, PROTOCOL_MINORS, PROTOCOL_VERSION } from "../protocol/version.ts";

/** The refusal by a Socket.IO server that does not have our namespace. */
const INVALID_NAMESPACE = "Invalid namespace";
/** Statuses below 500 that are temporary: request timeout, too early, too many requests. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429];
/** Engine.IO's code for a session that the server does not know, for example after its restart. */
const UNKNOWN_SESSION = 1;
/** The paths of a hub and of a gateway for MCP clients. */
const MCP_PATH = /^\/mcp(?:\/|$)/;
const MAX_SHOWN_MESSAGE = 200;
const OUT_OF_SERVICE = "the Server shuts down or is not ready, or a proxy cannot reach it";
const NO_UPGRADE =
  "the Server serves WebSocket alone; does each proxy in between pass WebSocket upgrades on?";

export interface FailureContext {
  /** 0 where there was no answer. */
  readonly status?: number;
  /** The error of the network where there was no answer. */
  readonly statusText?: unknown;
  readonly responseText?: unknown;
  readonly location?: unknown;
  /** Whether a browser hides a redirect, its status and its target. */
  readonly isHiddenRedirect?: unknown;
}

/** The members of a transport's error that are read. */
export interface ConnectFailure extends Error {
  /** Present in the Server's own refusal of the namespace, whatever its value. */
  readonly data?: unknown;
  readonly context?: FailureContext | undefined;
}

export interface ConnectTarget {
  /** The URL that the caller gave. */
  readonly url: string;
  /** The address that was requested, such as `https://example.com/a2c/socket.io/`. */
  readonly requested: string;
  /** The protocol version that was sent; `0.2.0` by default. */
  readonly version?: string;
  /** Whether polling was tried; `true` by default. Without it, an HTTP answer is not known. */
  readonly hasPolling?: boolean;
  /** Whether the caller gave certificate authorities; `false` by default. */
  readonly hasCa?: boolean;
}

/** Turns a failed connection attempt into a local error: version, credentials, or unreachable Server. */
export function toConnectError(
  failure: ConnectFailure,
  { url, requested, version = PROTOCOL_VERSION, hasPolling = true, hasCa = false }: ConnectTarget,
): Error {
  const { context, message } = failure;
  const refusal = readVersionRefusal(context);
  if (refusal !== undefined) return new ProtocolVersionError(versionMessage(refusal, version), refusal);
  const status = context?.status ?? 0;
  const passing = passingRefusal(failure);
  if (passing !== undefined) {
    const { text, serverCode } = passing;
    return new ServerUnreachableError(`Cannot connect to "${url}": ${text}`, { cause: failure, serverCode });
  }
  if ("data" in failure && message !== INVALID_NAMESPACE) {
    const what = message.startsWith("Unauthorized") ? "the credentials" : "the connection";
    return new AuthenticationError(`Cannot connect to "${url}": the Server refused ${what} (${message})`, {
      cause: failure,
      serverCode: codeOf(failure.data),
    });
  }
  if ((status === 401 || status === 404) && isMcpPath(url)) {
    const text = `HTTP ${status} from "${requested}"; ${mcpPathHint(url)}, and name the office with --office`;
    return unreachable(url, text, { isPermanent: true, cause: failure });
  }
  if (status === 401 || status === 403) {
    const said = messageOf(context);
    return new AuthenticationError(`Cannot connect to "${url}": HTTP ${status} from "${requested}"${said}`, {
      // A proxy in front may also answer 403 to missing credentials.
      serverCode: codeOf(bodyOf(context)),
    });
  }
  const cause = context?.statusText instanceof Error ? context.statusText : undefined;
  if (!hasPolling && !("data" in failure) && cause === undefined) {
    const hint = /^HTTP 5/.test(message) ? OUT_OF_SERVICE : NO_UPGRADE;
    return unreachable(url, `cannot open a WebSocket (${message}); ${hint}`, { cause: failure });
  }
  const { text, isPermanent } = unreachableReason(failure, { requested, hasCa });
  return unreachable(url, text, { isPermanent, ...(cause === undefined ? {} : { cause }) });
}

/** Whether the path of a URL is one for MCP clients. */
export function isMcpPath(url: string): boolean {
  return MCP_PATH.test(URL.parse(url)?.pathname ?? "");
}

export function mcpPathHint(url: string): string {
  return `the path is for MCP clients: members use "${new URL(url).origin}"`;
}

/** Whether the Server answered that it serves WebSocket and no polling. */
export function refusesPolling({ context }: ConnectFailure): boolean {
  const transports = context?.status === 400 ? bodyOf(context)?.["transports"] : undefined;
  return Array.isArray(transports) && transports.includes("websocket") && !transports.includes("polling");
}

/** The error for a Server that cannot be reached. */
export function unreachable(
  url: string,
  reason: string,
  options: ErrorOptions & { readonly isPermanent?: boolean } = {},
): ServerUnreachableError {
  return new ServerUnreachableError(`Cannot reach the Server at "${url}": ${reason}`, options);
}

function unreachableReason(
  { context, message }: ConnectFailure,
  { requested, hasCa }: Required<Pick<ConnectTarget, "requested" | "hasCa">>,
): Reason {
  const { status = 0, statusText } = context ?? {};
  if (context?.isHiddenRedirect === true) {
    return permanent(
      `"${requested}" redirects, and redirects are not followed; use the address of the Server`,
    );
  }
  if (status > 0) return httpReason(status, { requested, context });
  if (statusText instanceof Error) return networkReason(statusText, { requested, hasCa });
  if (message === "timeout") return passing("no answer in time (timeout)");
  if (message === INVALID_NAMESPACE) {
    return permanent(`"${requested}" is a Socket.IO server of another program, not an A2C-SMCP Server`);
  }
  return permanent(`"${requested}" is not a Socket.IO server; check the address and --path (${message})`);
}

function httpReason(
  status: number,
  { requested, context }: { readonly requested: string; readonly context: ConnectFailure["context"] },
): Reason {
  const said = `HTTP ${status} from "${requested}"${messageOf(context)}`;
  const target = redirectTarget(context?.location, requested);
  if (status >= 300 && status < 400 && target !== undefined) {
    return permanent(
      `"${requested}" redirects to "${target}", and redirects are not followed; if the Server is there, use that address`,
    );
  }
  if (status >= 500) return passing(`${said}; ${OUT_OF_SERVICE}`);
  if (status === 400 && isPlainOnTls(context)) {
    return permanent(`${said}; the Server speaks TLS, use https://`);
  }
  const isUnknownSession = bodyOf(context)?.["code"] === UNKNOWN_SESSION;
  if (PASSING_STATUSES.includes(status) || isUnknownSession) return passing(said);
  return permanent(
    `${said}; there is no A2C-SMCP Server at this address; check the path of the URL and --path`,
  );
}

/** The target without user name and query, which may be secrets. */
function redirectTarget(location: unknown, requested: string): string | undefined {
  if (typeof location !== "string" || !URL.canParse(location, requested)) return undefined;
  const { protocol, host, pathname } = new URL(location, requested);
  return shorten(`${protocol}//${host}${pathname}`, MAX_SHOWN_MESSAGE);
}

/** Whether the answer is the one that nginx and Go give to plain HTTP on a TLS port. */
function isPlainOnTls(context: ConnectFailure["context"]): boolean {
  const body = context?.responseText;
  return typeof body === "string" &&
    /HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)/i.test(body);
}

/**
 * The text and the code of a refusal by the Server itself that says that a later attempt may succeed: a limit, or a Server that cannot
 * decide now. It comes in the Server's refusal of the namespace, or in the body of an HTTP answer with the same status.
 */
function passingRefusal(
  { data, message, context }: ConnectFailure,
): { readonly text: string; readonly serverCode: number } | undefined {
  const body = bodyOf(context);
  const code = codeOf(data) ?? (codeOf(body) === context?.status ? codeOf(body) : undefined);
  if (code !== ErrorCode.TOO_MANY_REQUESTS && code !== ErrorCode.UNAVAILABLE) return undefined;
  const said = data === undefined && typeof body?.["message"] === "string" ? body["message"] : message;
  const text = `${shorten(said.replace(/^Cannot connect: /, ""), MAX_SHOWN_MESSAGE)} (${code})`;
  return { text, serverCode: code };
}

function codeOf(refusal: unknown): number | undefined {
  const code = isRecord(refusal) ? refusal["code"] : undefined;
  return typeof code === "number" ? code : undefined;
}

function permanent(text: string): Reason {
  return { text, isPermanent: true };
}

function passing(text: string): Reason {
  return { text, isPermanent: false };
}

function bodyOf(context: ConnectFailure["context"]): Record<string, unknown> | undefined {
  const body = typeof context?.responseText === "string" ? parseJson(context.responseText) : undefined;
  return isRecord(body) ? body : undefined;
}

/** The answer's message in parentheses; empty when it has none. */
function messageOf(context: ConnectFailure["context"]): string {
  const message = bodyOf(context)?.["message"];
  return typeof message === "string" ? ` (${message.slice(0, MAX_SHOWN_MESSAGE)})` : "";
}

function readVersionRefusal(context: ConnectFailure["context"]): VersionRefusal | undefined {
  const body = context?.status === 400 ? bodyOf(context) : undefined;
  if (body === undefined || (body["code"] !== 4008 && body["code"] !== 400)) return undefined;
  const { code, message } = body;
  const text = (key: string) => typeof body[key] === "string" ? { [key]: body[key] } : {};
  return {
    code,
    message: typeof message === "string" ? message : "Protocol version refused",
    ...text("server_version"),
    ...text("client_version"),
    ...text("min_supported"),
    ...text("max_supported"),
  };
}

function versionMessage(refusal: VersionRefusal, version: string): string {
  const { server_version, min_supported, max_supported } = refusal;
  const speaks = server_version === undefined
    ? ""
    : `: the Server speaks ${server_version}, accepts ${min_supported ?? "?"} to ${max_supported ?? "?"}`;
  const other = highestMinorWithin(refusal);
  const remedy = other === undefined
    ? `; this package speaks ${PROTOCOL_MINORS.join(", ")}`
    : `; ${useProtocol(other)}`;
  return `Cannot connect with protocol ${version}: ${refusal.message}${speaks}${remedy}`;
}
