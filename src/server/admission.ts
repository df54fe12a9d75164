/** From a connection's handshake to its identity, or to its refusal. */
import type { Logger } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { describeError } from "../protocol/errors.ts";
import { VERSION_QUERY_PARAMETER } from "../protocol/version.ts";
import type { AuthDecision, AuthProvider, Credentials } from "./auth.ts";
import type { Identity } from "./connection.ts";
import { MAX_SESSION_LENGTH } from "./limits.ts";

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

/**
 * Asks the provider who this is.
 *
 * @throws {AdmissionError} when it refuses, or fails.
 */
export async function admit(
  credentials: Credentials,
  { auth, logger }: { readonly auth: AuthProvider; readonly logger: Logger },
): Promise<Identity> {
  const decision = await decide(credentials, { auth, logger });
  if ("refused" in decision) {
    logger.warn("Refused a connection", { reason: decision.refused, address: credentials.address });
    throw new AdmissionError(`Unauthorized: ${decision.refused}`);
  }
  const version = credentials.query[VERSION_QUERY_PARAMETER];
  return {
    principal: decision.principal,
    session: readSession(credentials.auth["session"]),
    version: typeof version === "string" ? version : undefined,
  };
}

async function decide(
  credentials: Credentials,
  { auth, logger }: { readonly auth: AuthProvider; readonly logger: Logger },
): Promise<AuthDecision> {
  try {
    return await auth.authenticate(credentials);
  } catch (error) {
    logger.error("Cannot authenticate a connection", { error: describeError(error) });
    return { refused: "not possible now" };
  }
}

/** A `session` of another shape is as none: it only costs the peer its quick return. */
function readSession(session: unknown): string | undefined {
  const isUsable = typeof session === "string" && session !== "" && session.length <= MAX_SESSION_LENGTH;
  return isUsable ? session : undefined;
}
