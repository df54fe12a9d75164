/** Decides on the admission of a connection. */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import type { LogFields } from "../../log.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";
import { describeError } from "../../text.ts";
import { VERSION_QUERY_PARAMETER } from "../../protocol/version.ts";
import {
  type AuthDecision,
  type AuthProvider,
  type Credentials,
  endOf,
  isDecision,
  type Permit,
} from "./provider.ts";
import { auditFields, LoggedRefusal } from "../observe/logs.ts";
import type { BoundedLog } from "../../bounded_log.ts";
import type { Meter } from "../observe/meter.ts";
import { type Quotas, refusalOf } from "./quotas.ts";

/** A `session` that is longer is ignored. */
const SESSION = /^.{1,128}$/s;

export interface Identity {
  readonly principal: string;
  readonly session: string | undefined;
  readonly version: string | undefined;
  /** Whether it joins as an observer, which does not take the seat of the Agent. */
  readonly isObserver: boolean;
}

export interface Admitted {
  readonly identity: Identity;
  readonly permit: Permit;
  /** What it uses together with other connections; `undefined` where nothing is counted. */
  readonly quotas?: Quotas | undefined;
}

/** Refuses a connection, or newer credentials of one. */
export class AdmissionError extends LoggedRefusal {
  override readonly name = "AdmissionError";

  /** @param options Without a code, the credentials are what does not allow the connection. */
  constructor(
    message: string,
    { code = ErrorCode.UNAUTHORIZED, log = {}, ...rest }: {
      readonly code?: number;
      readonly log?: LogFields | undefined;
      readonly details?: ErrorDetails | undefined;
    } = {},
  ) {
    super(code, message, { log, ...rest });
  }

  /** What Socket.IO sends to the client in its connect error, besides the message. */
  get data() {
    const { code, message, details } = this;
    return { code, message, details };
  }
}

export interface AdmissionOptions {
  readonly auth: AuthProvider;
  readonly authTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly refusals: BoundedLog;
  readonly meter?: Pick<Meter, "refused"> | undefined;
  /**
   * Counts the connection in the quotas of its principal. Without it, the connection is admitted already: then a refusal
   * of its newer credentials is not one of a connection, and the caller reports it.
   *
   * @throws {SmcpError} 429 when there are too many.
   */
  readonly count?: (principal: string) => Quotas;
}

/**
 * Asks the auth provider for the identity of a connection, and for what it may do.
 *
 * @throws {AdmissionError} 401 when the provider refuses; 429 when there are too many connections; 503 when the provider
 * fails or takes too long, so that the client tries again. The reason of `signal` when it is aborted.
 */
export async function admit(credentials: Credentials, options: AdmissionOptions): Promise<Admitted> {
  const { refusals, meter, count } = options;
  const { address, query, auth: { session, observer } } = credentials;
  const decision = await decide(credentials, options);
  if ("refused" in decision) {
    const { refused: reason, log } = decision;
    if (count !== undefined) {
      meter?.refused("credentials");
      refusals.write("warn", "refused a connection", auditFields("connect", { ...log, reason, address }));
    }
    throw new AdmissionError(`Unauthorized: ${reason}`, { log });
  }
  const { principal, grant, expiresAtMs, signal } = decision;
  const version = query[VERSION_QUERY_PARAMETER];
  const identity = {
    principal,
    // Without a usable one, the client cannot replace its lost connection at once.
    session: typeof session === "string" && SESSION.test(session) ? session : undefined,
    isObserver: observer === true,
    version: typeof version === "string" ? version : undefined,
  };
  // A closed connection would be counted for ever.
  options.signal.throwIfAborted();
  try {
    return { identity, permit: { grant, expiresAtMs, signal }, quotas: count?.(principal) };
  } catch (error) {
    if (!(error instanceof SmcpError)) throw error;
    const { code, message, details } = error;
    meter?.refused(refusalOf(error));
    refusals.write("warn", "refused a connection", { reason: message, principal, address });
    throw new AdmissionError(message, { code, details });
  }
}

async function decide(
  credentials: Credentials,
  { auth, authTimeoutMs, signal, refusals, meter, count }: AdmissionOptions,
): Promise<AuthDecision> {
  const reason = () => new RangeError(`No decision of the auth provider within ${authTimeoutMs} ms`);
  using deadline = new Deadline(authTimeoutMs, { reason, signal });
  try {
    const asked = Promise.resolve(auth.authenticate(credentials, { signal: deadline.signal }));
    const decision: unknown = await abortable(asked, deadline.signal);
    if (!isDecision(decision)) {
      throw new TypeError(
        "Cannot use the decision of the auth provider: expected { refused: text }, or { principal: text } " +
          "with at most grant: { offices?, roles? }, expiresAtMs and signal",
      );
    }
    if ("refused" in decision) return decision;
    const end = endOf(decision);
    return end === undefined ? decision : { refused: end.message, log: { principal: decision.principal } };
  } catch (error) {
    signal.throwIfAborted();
    const subject = count === undefined ? "the newer credentials of a member" : "a connection";
    const fields = { error: describeError(error), address: credentials.address };
    refusals.write("error", `failed to authenticate ${subject}`, fields);
    if (count !== undefined) meter?.refused("credentials");
    // Nothing is known about the credentials: a 401 would end clients for good when an identity provider is down.
    // The error of the provider may have secrets.
    const message = "Cannot check the credentials now; try again later";
    throw new AdmissionError(message, { code: ErrorCode.UNAVAILABLE });
  }
}
