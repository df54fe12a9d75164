/** From a connection's handshake to its identity, or to its refusal. */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { isRecord } from "../../json.ts";
import { describeError } from "../../text.ts";
import { VERSION_QUERY_PARAMETER } from "../../protocol/version.ts";
import type { AuthDecision, AuthProvider, Credentials } from "./auth.ts";
import type { BoundedLog } from "../bounded_log.ts";
import { MAX_SESSION_LENGTH } from "../limits.ts";

/** What is known of a connection from its handshake. */
export interface Identity {
  readonly principal: string;
  readonly session: string | undefined;
  readonly version: string | undefined;
  /** Whether it joins as an observer, which does not take the Agent's seat. */
  readonly isObserver: boolean;
}

/** A refused connection: Socket.IO sends `message` and `data` to the client as its connect error. */
export class AdmissionError extends Error {
  override readonly name = "AdmissionError";
  readonly code = "ADMISSION_REFUSED";
  readonly data: { readonly code: number; readonly message: string };

  constructor(message: string) {
    super(message);
    this.data = { code: ErrorCode.UNAUTHORIZED, message };
  }
}

/** Who decides, how long that may take, until when anybody waits for it, and where refusals are logged. */
export interface AdmissionOptions {
  readonly auth: AuthProvider;
  readonly authTimeoutMs: number;
  /** Aborted when the connection is gone. */
  readonly signal: AbortSignal;
  readonly refusals: BoundedLog;
}

/**
 * Asks the provider who this is.
 *
 * @throws {AdmissionError} when it refuses, fails, or takes too long. The reason of `signal` once that is aborted.
 */
export async function admit(credentials: Credentials, options: AdmissionOptions): Promise<Identity> {
  const decision = await decide(credentials, options);
  if ("refused" in decision) {
    const { refused: reason } = decision;
    options.refusals.write("warn", "refused a connection", { reason, address: credentials.address });
    throw new AdmissionError(`Unauthorized: ${reason}`);
  }
  const version = credentials.query[VERSION_QUERY_PARAMETER];
  return {
    principal: decision.principal,
    session: readSession(credentials.auth["session"]),
    isObserver: credentials.auth["observer"] === true,
    version: typeof version === "string" ? version : undefined,
  };
}

async function decide(
  credentials: Credentials,
  { auth, authTimeoutMs, signal, refusals }: AdmissionOptions,
): Promise<AuthDecision> {
  const reason = () => new RangeError(`No decision within ${authTimeoutMs} ms`);
  using deadline = new Deadline(authTimeoutMs, { reason, signal });
  try {
    const asked = Promise.resolve(auth.authenticate(credentials, { signal: deadline.signal }));
    const decision: unknown = await abortable(asked, deadline.signal);
    if (isDecision(decision)) return decision;
    throw new TypeError("Cannot use the decision of the auth provider: neither principal nor refused");
  } catch (error) {
    signal.throwIfAborted();
    refusals.write("error", "failed to authenticate a connection", { error: describeError(error) });
    return { refused: "not possible now" };
  }
}

/** A provider in JavaScript may return anything, or forget to return. */
function isDecision(value: unknown): value is AuthDecision {
  return isRecord(value) && (typeof value["principal"] === "string" || typeof value["refused"] === "string");
}

/** A `session` of another shape is ignored: the peer then waits until its lost connection is noticed. */
function readSession(session: unknown): string | undefined {
  const isUsable = typeof session === "string" && session !== "" && session.length <= MAX_SESSION_LENGTH;
  return isUsable ? session : undefined;
}
