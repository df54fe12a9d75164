/** The contract with what decides who may connect, and what each client may do. */
import { isRecord, isTexts } from "../../json/json.ts";
import type { LogFields } from "../../log.ts";
import { type Farewell, FarewellCode } from "../../protocol/farewell.ts";
import type { Role } from "../../protocol/office.ts";
import { quoted } from "../../text/text.ts";
import { CONSTANTS } from "../options/constants.ts";
import { CREDENTIAL_ROWS } from "../options/credential_rows.ts";

/** A role that a client may be granted. `agent` includes `observer`, which may only read. */
export type GrantedRole = Role | "observer";

export const GRANTED_ROLES: readonly GrantedRole[] = ["agent", "computer", "observer"];

/** What a client may do. An absent member means everything; an empty list means nothing. An unknown member is refused. */
export interface Grant {
  /** The ids of the offices that it may join, compared as they are. */
  readonly offices?: readonly string[] | undefined;
  /** The roles that it may have. */
  readonly roles?: readonly GrantedRole[] | undefined;
  /** The names that it may have as a Computer. */
  readonly names?: readonly string[] | undefined;
}

/** The credentials of a connection. */
export interface Credentials {
  /** The Socket.IO `auth` object. */
  readonly auth: Readonly<Record<string, unknown>>;
  /** The HTTP headers of the handshake, by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The URL query of the handshake. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The IP address of the client; behind a proxy that is not trusted, that of the proxy. Empty where it is unknown. */
  readonly address: string;
}

/** The admission of a client. */
export interface Admission {
  /** Who it is, in log lines. A lost connection is replaced only by one with the same principal. */
  readonly principal: string;
  /** What it may do; everything by default. */
  readonly grant?: Grant | undefined;
  /**
   * When its credentials expire, in milliseconds since 1970; never by default. The Server then ends the connection with
   * the reason `credentials_expired`.
   */
  readonly expiresAtMs?: number | undefined;
  /**
   * Aborted when its credentials end before that; the Server then ends the connection. The client gets the reason of the
   * abort if that is a text or a {@linkcode CredentialsEndedError}. Many connections may share one signal.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The refusal of a client. */
export interface AuthRefusal {
  /** The reason, which is sent to the client. */
  readonly refused: string;
  /** Further fields of the line in the Server's log, which the client is not told. None replaces one of the Server's own. */
  readonly log?: Readonly<Record<string, unknown>> | undefined;
}

/** Admits a client, or refuses it. */
export type AuthDecision = Admission | AuthRefusal;

/** The reason with which a provider aborts the signal of an {@linkcode Admission}. */
export class CredentialsEndedError extends Error {
  /** The name of the class. */
  override readonly name = "CredentialsEndedError";
  /** The code of this kind of error. */
  readonly code: "CREDENTIALS_ENDED" = "CREDENTIALS_ENDED";
  /** What happened to the credentials. After `changed`, the client may reconnect with them. */
  readonly kind: CredentialsEnd;

  /** `message` is sent to the client. */
  constructor(message: string, { kind }: { readonly kind: CredentialsEnd }) {
    super(message);
    this.kind = kind;
  }
}

/** What can happen to credentials. */
export type CredentialsEnd = "expired" | "revoked" | "changed";

/**
 * Decides who may connect. When the provider throws or takes too long, the connection is refused with 503, so that the
 * client tries again; the error is logged and not sent.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { anyOf, type AuthProvider, staticTokens } from "@a2c-smcp/sdk/server";
 *
 * const localOnly: AuthProvider = {
 *   authenticate: ({ address }) =>
 *     address === "127.0.0.1"
 *       ? { principal: "local", grant: { offices: ["lab"], roles: ["computer"] } }
 *       : { refused: "from elsewhere" },
 * };
 * const provider = anyOf([staticTokens({ tokens: ["s3cret"] }), localOnly]);
 * assertEquals(
 *   await provider.authenticate({ auth: {}, headers: {}, query: {}, address: "10.0.0.1" }),
 *   { refused: "from elsewhere" },
 * );
 * ```
 */
export interface AuthProvider {
  /**
   * Decides on one connection. Until then, the Server handles none of its messages.
   *
   * @param credentials The credentials of the connection.
   * @param context `signal` is aborted after 10 seconds, when the connection is refused, and when the connection is
   * closed.
   */
  authenticate(
    credentials: Credentials,
    context?: { readonly signal: AbortSignal },
  ): AuthDecision | Promise<AuthDecision>;
  /**
   * Returns why this provider can admit nobody yet; `undefined` when it can. `/readyz` answers 503 with this text, which
   * anybody may read. It is asked for each `/readyz`, so it must be fast. Without it, the provider is always ready.
   */
  unready?(): string | undefined;
}

/** Admits every client as the principal `anonymous`. */
export const anonymous: AuthProvider = { authenticate: () => ({ principal: "anonymous" }) };

/**
 * Admits a client that one of several providers admits. They are asked in their order, up to the first that admits; the
 * reason of a refusal is that of the last.
 */
export function anyOf(providers: readonly AuthProvider[]): AuthProvider {
  return {
    async authenticate(credentials, context) {
      let decision: AuthDecision = { refused: "no provider" };
      for (const provider of providers) {
        decision = await provider.authenticate(credentials, context);
        if (!("refused" in decision)) break;
      }
      return decision;
    },
    unready: () => providers.map((provider) => provider.unready?.()).find((reason) => reason !== undefined),
  };
}

/** Whether a value is a decision. A provider in JavaScript may return anything, and what is malformed admits nobody. */
export function isDecision(value: unknown): value is AuthDecision {
  if (!isRecord(value)) return false;
  const { refused, log, principal, grant, expiresAtMs, signal } = value;
  if ("refused" in value) return typeof refused === "string" && (log === undefined || isRecord(log));
  return typeof principal === "string" &&
    (grant === undefined || isGrant(grant)) &&
    (expiresAtMs === undefined || typeof expiresAtMs === "number") &&
    (signal === undefined || signal instanceof AbortSignal);
}

export interface WantedSeat {
  readonly officeId: string;
  readonly role: Role;
  readonly isObserver: boolean;
  readonly name: string;
}

export function isGranted(grant: Grant, { officeId, role, isObserver, name }: WantedSeat): boolean {
  const { offices, roles, names } = grant;
  const isRole = roles === undefined || roles.includes(role) || (isObserver && roles.includes("observer"));
  const isName = names === undefined || role !== "computer" || names.includes(name);
  return isRole && isName && (offices === undefined || offices.includes(officeId));
}

const MEMBERS: readonly string[] = ["offices", "roles", "names"] satisfies readonly (keyof Grant)[];

/**
 * Whether a value of a provider in JavaScript is a grant. A malformed one must not count as everything, nor one with an
 * unknown member: `{ office: "lab" }` is a typing error, and not a grant of all offices.
 */
export function isGrant(value: unknown): value is Grant {
  if (!isRecord(value) || !Object.keys(value).every((key) => MEMBERS.includes(key))) return false;
  const { offices, roles, names } = value;
  return [offices, names].every((list) => list === undefined || isTexts(list)) &&
    (roles === undefined || (Array.isArray(roles) && roles.every(isGrantedRole)));
}

export function isGrantedRole(value: unknown): value is GrantedRole {
  return GRANTED_ROLES.some((role) => role === value);
}

export function describeGrant({ offices = ["*"], roles = GRANTED_ROLES, names }: Grant): LogFields {
  const listed = (items: readonly string[]) => quoted(items.join(",") || "none");
  return {
    allowed_offices: listed(offices),
    allowed_roles: listed(roles),
    allowed_names: names && listed(names),
  };
}

/** Where clients put their token. */
export interface TokenPlace {
  /** The field of the Socket.IO `auth` object; `token` by default. It is read first. */
  readonly field?: string | undefined;
  /**
   * The HTTP headers for clients that set no `auth` field, in the order in which they are read; `x-api-key` and
   * `authorization` by default. `authorization` may start with `Bearer`.
   */
  readonly header?: string | readonly string[] | undefined;
}

/** Returns a reader of the token; it returns `undefined` for a client that presents none. */
export function createTokenReader(place: TokenPlace): (credentials: Credentials) => string | undefined {
  const { authField, authHeader } = CREDENTIAL_ROWS;
  const { field = authField.default, header = authHeader.default } = place;
  const headers = (typeof header === "string" ? [header] : header).map((name) => name.toLowerCase());
  return ({ auth, headers: sent }) => {
    const own = Object.hasOwn(auth, field) ? auth[field] : undefined;
    const candidates = [own, ...headers.map((name) => readHeader(name, sent))];
    const token = candidates.find((value) => typeof value === "string" && value !== "");
    return typeof token === "string" && token.length <= CONSTANTS.maxTokenLength.value ? token : undefined;
  };
}

function readHeader(name: string, headers: Credentials["headers"]): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (typeof value !== "string") return undefined;
  // Other schemes, such as that of a proxy with passwords, are not for this Server.
  return name === "authorization" ? /^(?:Bearer +)?(\S+)$/i.exec(value)?.[1] : value;
}

/** What an admitted connection may do, and how long. */
export type Permit = Pick<Admission, "grant" | "expiresAtMs" | "signal">;

/** The reason with which the signal of a permit is aborted that goes on with another end: the connections of it stay. */
export class ExpiryMovedError extends CredentialsEndedError {
  readonly former: Permit;
  readonly next: Permit;

  constructor(message: string, { former, next }: { readonly former: Permit; readonly next: Permit }) {
    super(message, { kind: "changed" });
    this.former = former;
    this.next = next;
  }
}

/** What takes the place of a permit whose end was moved. A provider around that one may have chosen another end. */
export function movedFrom({ expiresAtMs, signal }: Permit): Permit | undefined {
  const reason: unknown = signal?.reason;
  const isMoved = reason instanceof ExpiryMovedError && reason.former.expiresAtMs === expiresAtMs;
  return isMoved ? reason.next : undefined;
}

const EXPIRED = new CredentialsEndedError("The credentials have expired", { kind: "expired" });

export function endOf({ expiresAtMs, signal }: Permit): Farewell | undefined {
  if (signal?.aborted) return toFarewell(signal.reason);
  // Also refuses NaN.
  const isOver = expiresAtMs !== undefined && !(expiresAtMs > Date.now());
  return isOver ? toFarewell(EXPIRED) : undefined;
}

/** The error of a provider is not sent: only a text that is meant for the client is. */
function toFarewell(reason: unknown): Farewell {
  if (reason instanceof CredentialsEndedError) {
    // A code of `FarewellCode`.
    return {
      code: `credentials_${reason.kind}`,
      message: reason.message,
      reconnect: reason.kind === "changed",
    };
  }
  const message = typeof reason === "string" ? reason : "The credentials are no longer accepted";
  return { code: FarewellCode.CREDENTIALS_REVOKED, message, reconnect: false };
}
