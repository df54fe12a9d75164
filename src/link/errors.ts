/** Errors that do not cross the wire: they describe a failure on the caller's own side. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { type Farewell, hasEndedCredentials } from "../protocol/farewell.ts";
import { SmcpError } from "../protocol/errors.ts";
import type { ProtocolMinor } from "../protocol/version.ts";

/** The connection was lost or closed while a request was in flight, or one of the two sides has closed it for good. */
export class ConnectionClosedError extends Error {
  /** The name of the class. */
  override readonly name = "ConnectionClosedError";
  /** The code of this kind of error. */
  readonly code: "CONNECTION_CLOSED" = "CONNECTION_CLOSED";
  /** Whether the request has reached nobody, so that it can be made again. */
  readonly isUnsent: boolean;
  /** Whether a retry cannot succeed, because the caller or the Server has closed the connection for good. */
  readonly isPermanent: boolean;

  /** `isUnsent` and `isPermanent` are false by default. */
  constructor(
    message: string,
    { isUnsent = false, isPermanent = false, ...options }: ErrorOptions & {
      readonly isUnsent?: boolean;
      readonly isPermanent?: boolean;
    } = {},
  ) {
    super(message, options);
    this.isUnsent = isUnsent;
    this.isPermanent = isPermanent;
  }
}

/** No answer arrived within the time limit. */
export class RequestTimeoutError extends Error {
  /** The name of the class. */
  override readonly name = "RequestTimeoutError";
  /** The code of this kind of error. */
  readonly code: "REQUEST_TIMEOUT" = "REQUEST_TIMEOUT";
  /** Whether the request has reached nobody, because there was no connection in time. */
  readonly isUnsent: boolean;

  /** `isUnsent` is false by default. */
  constructor(
    message: string,
    { isUnsent = false, ...options }: ErrorOptions & { readonly isUnsent?: boolean } = {},
  ) {
    super(message, options);
    this.isUnsent = isUnsent;
  }
}

/**
 * Whether a tool call may have run although it failed with this error, so that making it again could run the tool twice: see
 * "Retry a call that may have run" in the guide for Agents. Of a failed result, `meta.may_have_run` says the same. True as
 * well of the reason of an abort, unless that is a `TypeError` or a `RangeError`, as of arguments that cannot be sent.
 *
 * ```ts
 * import { mayHaveRun, RequestTimeoutError } from "@a2c-smcp/sdk/agent";
 *
 * console.assert(mayHaveRun(new RequestTimeoutError("no answer in 20000 ms")));
 * ```
 */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof SmcpError) {
    // Without a word of it, a refusal is clear; a peer of another implementation that failed may have passed the call on.
    const told = error.details?.["may_have_run"];
    if (typeof told === "boolean") return told;
    return error.code === ErrorCode.TIMEOUT || error.code === ErrorCode.INTERNAL_ERROR;
  }
  const isOfConnection = error instanceof ConnectionClosedError || error instanceof RequestTimeoutError;
  if (isOfConnection) return !error.isUnsent;
  // What is left is the reason of an abort, which may be any value.
  return ![TypeError, RangeError, ...ENDED].some((kind) => error instanceof kind);
}

/** The Server could not be reached within the time limit, or a retry cannot succeed (`isPermanent`). */
export class ServerUnreachableError extends Error {
  /** The name of the class. */
  override readonly name = "ServerUnreachableError";
  /** The code of this kind of error. */
  readonly code: "SERVER_UNREACHABLE" = "SERVER_UNREACHABLE";
  /** Whether a retry cannot succeed without a change of the URL, the TLS settings or the Server. */
  readonly isPermanent: boolean;
  /** 429 for a limit of the Server, 503 while it cannot decide, if it gave a code. */
  readonly serverCode: number | undefined;

  /** `isPermanent` is false by default; `cause` is the network error; `serverCode` is the code that the Server gave. */
  constructor(
    message: string,
    { isPermanent = false, serverCode, ...options }: ErrorOptions & {
      readonly isPermanent?: boolean;
      readonly serverCode?: number | undefined;
    } = {},
  ) {
    super(message, options);
    this.isPermanent = isPermanent;
    this.serverCode = serverCode;
  }
}

/** The Server refused the credentials, or the sender of the request. A retry with the same cannot succeed. */
export class AuthenticationError extends Error {
  /** The name of the class. */
  override readonly name = "AuthenticationError";
  /** The code of this kind of error. */
  readonly code: "AUTHENTICATION_FAILED" = "AUTHENTICATION_FAILED";
  /** 401 for credentials, 403 for an address, `Origin` or `Host` that is not allowed, if the Server gave a code. */
  readonly serverCode: number | undefined;

  /** `serverCode` is the code that the Server gave. */
  constructor(
    message: string,
    { serverCode, ...options }: ErrorOptions & { readonly serverCode?: number | undefined } = {},
  ) {
    super(message, options);
    this.serverCode = serverCode;
  }
}

/** The Server refused the join. The message has the Server's reason. */
export class JoinRefusedError extends Error {
  /** The name of the class. */
  override readonly name = "JoinRefusedError";
  /** The code of this kind of error. */
  readonly code: "JOIN_REFUSED" = "JOIN_REFUSED";
  /** The code of the protocol that the Server gave, such as 403 or 503, if it gave one. */
  readonly serverCode: number | undefined;
  /**
   * The `MAJOR.MINOR` of the protocol that the members of the office speak, when that is the reason and this package
   * speaks it.
   */
  readonly officeProtocol: ProtocolMinor | undefined;
  /** Whether a later attempt may succeed: the name or the seat is taken, or a limit of the Server leaves no place. */
  readonly isPassing: boolean;

  /** `serverCode` is the code that the Server gave; `officeProtocol` the version of the office. */
  constructor(
    message: string,
    { serverCode, officeProtocol, isPassing = false }: {
      readonly serverCode?: number | undefined;
      readonly officeProtocol?: ProtocolMinor | undefined;
      readonly isPassing?: boolean;
    } = {},
  ) {
    super(message);
    this.serverCode = serverCode;
    this.officeProtocol = officeProtocol;
    this.isPassing = isPassing;
  }
}

/** The Server refused to let the member leave its office. The message has the Server's reason. */
export class LeaveRefusedError extends Error {
  /** The name of the class. */
  override readonly name = "LeaveRefusedError";
  /** The code of this kind of error. */
  readonly code: "LEAVE_REFUSED" = "LEAVE_REFUSED";
}

/** The Server does not accept the protocol version (4008, or HTTP 400 for a version that it cannot read). Final. */
export class ProtocolVersionError extends Error {
  /** The name of the class. */
  override readonly name = "ProtocolVersionError";
  /** The code of this kind of error. */
  readonly code: "PROTOCOL_VERSION_MISMATCH" = "PROTOCOL_VERSION_MISMATCH";
  /** The body of the Server's answer, with the versions that it accepts. */
  readonly refusal: VersionRefusal;

  /** `refusal` is the body of the Server's answer. */
  constructor(message: string, refusal: VersionRefusal) {
    super(message);
    this.refusal = refusal;
  }
}

/** The body of the Server's HTTP 400 to a handshake with a version that it does not accept (`docs/protocol/calls-and-offices.md#version-handshake`). */
export interface VersionRefusal {
  /** 4008, or 400 for a version that cannot be read. */
  code: number;
  /** The message, for display. */
  message: string;
  /** The newest version that the Server accepts. */
  server_version?: string;
  /** The version that the client sent. */
  client_version?: string;
  /** The lowest version that the Server accepts. */
  min_supported?: string;
  /** The highest version that the Server accepts. */
  max_supported?: string;
}

/** What to do where another version of the protocol is spoken. */
export function useProtocol(minor: ProtocolMinor): string {
  return `set protocolVersion to "${minor}" (--protocol ${minor})`;
}

/** The error of requests after the Server has ended the connection for good. */
export function toDismissal(url: string, farewell: Farewell): Error {
  const message = `Cannot stay connected to "${url}": ${farewell.message}`;
  return hasEndedCredentials(farewell)
    ? new AuthenticationError(message)
    : new ConnectionClosedError(message, { isPermanent: true, isUnsent: true });
}

/** Why a connection has ended, or did not begin. */
const ENDED = [AuthenticationError, JoinRefusedError, ProtocolVersionError, ServerUnreachableError];
