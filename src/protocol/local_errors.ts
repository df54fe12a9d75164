/** Errors that do not cross the wire: they tell a caller what happened on its own side. */

/** The connection is gone, or was closed while a request was in flight. */
export class ConnectionClosedError extends Error {
  /** Tells the class of an error. */
  override readonly name = "ConnectionClosedError";
  /** Tells the kind of an error. */
  readonly code = "CONNECTION_CLOSED";
}

/** No answer came in the time that was given. */
export class RequestTimeoutError extends Error {
  /** Tells the class of an error. */
  override readonly name = "RequestTimeoutError";
  /** Tells the kind of an error. */
  readonly code = "REQUEST_TIMEOUT";
}

/** The Server could not be reached: before the connect deadline, or at once where waiting is of no use. */
export class ServerUnreachableError extends Error {
  /** Tells the class of an error. */
  override readonly name = "ServerUnreachableError";
  /** Tells the kind of an error. */
  readonly code = "SERVER_UNREACHABLE";
  /** Whether only a change of the address, its TLS or the Server helps: host not found, certificate, HTTP 4xx. */
  readonly isPermanent: boolean;

  /** `isPermanent` is false by default; `cause`: the error of the network. */
  constructor(message: string, options: ErrorOptions & { readonly isPermanent?: boolean } = {}) {
    super(message, options);
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** The Server refused the credentials. Trying again with the same ones is of no use. */
export class AuthenticationError extends Error {
  /** Tells the class of an error. */
  override readonly name = "AuthenticationError";
  /** Tells the kind of an error. */
  readonly code = "AUTHENTICATION_FAILED";
}

/** The Server refused the join for good, in its own words. */
export class JoinRefusedError extends Error {
  /** Tells the class of an error. */
  override readonly name = "JoinRefusedError";
  /** Tells the kind of an error. */
  readonly code = "JOIN_REFUSED";
}

/** The Server speaks another version of the protocol (4008, or HTTP 400 for a version it cannot read). Final. */
export class ProtocolVersionError extends Error {
  /** Tells the class of an error. */
  override readonly name = "ProtocolVersionError";
  /** Tells the kind of an error. */
  readonly code = "PROTOCOL_VERSION_MISMATCH";
  /** What the Server said of itself: `server_version`, `min_supported`, `max_supported`. */
  readonly refusal: VersionRefusal;

  /** `refusal`: what the Server answered. */
  constructor(message: string, refusal: VersionRefusal) {
    super(message);
    this.refusal = refusal;
  }
}

/** The body of the Server's HTTP 400 to a handshake whose version it does not accept. */
export interface VersionRefusal {
  /** 4008, or 400 for a version that cannot be read. */
  code: number;
  /** What went wrong, for people. */
  message: string;
  /** The version that the Server speaks. */
  server_version?: string;
  /** The version that it was offered. */
  client_version?: string;
  /** The lowest version that it accepts. */
  min_supported?: string;
  /** The highest version that it accepts. */
  max_supported?: string;
}
