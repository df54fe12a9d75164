/** Errors that do not cross the wire: they tell a caller what happened on its own side. */

/** The connection is gone, or was closed while a request was in flight. */
export class ConnectionClosedError extends Error {
  override readonly name = "ConnectionClosedError";
  readonly code = "CONNECTION_CLOSED";
}

/** No answer came in the time that was given. */
export class RequestTimeoutError extends Error {
  override readonly name = "RequestTimeoutError";
  readonly code = "REQUEST_TIMEOUT";
}

/** The Server could not be reached before the connect deadline. */
export class ServerUnreachableError extends Error {
  override readonly name = "ServerUnreachableError";
  readonly code = "SERVER_UNREACHABLE";
}

/** The Server refused the credentials. Trying again with the same ones is of no use. */
export class AuthenticationError extends Error {
  override readonly name = "AuthenticationError";
  readonly code = "AUTHENTICATION_FAILED";
}

/** The Server refused the join for good, in its own words. */
export class JoinRefusedError extends Error {
  override readonly name = "JoinRefusedError";
  readonly code = "JOIN_REFUSED";
}

/** The Server speaks another version of the protocol (4008, or HTTP 400 for a version it cannot read). Final. */
export class ProtocolVersionError extends Error {
  override readonly name = "ProtocolVersionError";
  readonly code = "PROTOCOL_VERSION_MISMATCH";
  /** What the Server said of itself: `server_version`, `min_supported`, `max_supported`. */
  readonly refusal: VersionRefusal;

  constructor(message: string, refusal: VersionRefusal) {
    super(message);
    this.refusal = refusal;
  }
}

/** The body of the Server's HTTP 400 to a handshake whose version it does not accept. */
export interface VersionRefusal {
  code: number;
  message: string;
  server_version?: string;
  client_version?: string;
  min_supported?: string;
  max_supported?: string;
}
