/** A sign-in that is under way: what a person does, and how it ends. */

/** How a sign-in is begun. */
export interface SignInOptions {
  /**
   * Where the browser goes after the sign-in: the address of a listener on the loopback interface, such as
   * `http://127.0.0.1:49152/callback`. Nothing need listen there when the person pastes the address that the browser
   * shows. By default `http://127.0.0.1:PORT/callback` with the configured `redirectPort`, or 33418. A client that is not
   * configured gets one segment more for its authorization server: {@linkcode BrowserSignIn.redirectUri} is the whole.
   */
  readonly redirectUri?: string | undefined;
  /** Whether the person enters a code on another device; false by default, or as `grant` is configured. */
  readonly device?: boolean | undefined;
  /** Ends the sign-in. */
  readonly signal?: AbortSignal | undefined;
}

/** A sign-in in a browser. */
export interface BrowserSignIn {
  /** Tells the kinds of sign-ins apart. */
  readonly kind: "browser";
  /** The authorization server that lets the person in, who should see it before. The page may be elsewhere. */
  readonly issuer: string;
  /** What the tokens will be good for, which may be the whole host; `undefined` where the MCP server does not say. */
  readonly audience: string | undefined;
  /** The page at which the person signs in. */
  readonly url: string;
  /** Where the browser goes after that. Each authorization server has an address of its own. */
  readonly redirectUri: string;
  /**
   * Finishes the sign-in with the whole address that the browser was sent to: its code alone does not say who it is from.
   *
   * @throws {SignInError} when the authorization server refused; the sign-in is then over. For an address that does
   * not belong to this sign-in, it throws and goes on.
   */
  finish(redirectUrl: string): Promise<void>;
  /** Resolves when the tokens are stored; rejects when the sign-in has failed or was cancelled. */
  readonly finished: Promise<void>;
  /** Ends the sign-in. Idempotent. */
  cancel(): void;
}

/** A sign-in on another device. */
export interface DeviceSignIn {
  /** Tells the kinds of sign-ins apart. */
  readonly kind: "device";
  /** The authorization server that lets the person in, who should see it before. The page may be elsewhere. */
  readonly issuer: string;
  /** What the tokens will be good for, which may be the whole host; `undefined` where the MCP server does not say. */
  readonly audience: string | undefined;
  /** The page at which the person enters the code. */
  readonly url: string;
  /** The same with the code in it, where the authorization server offers that. */
  readonly completeUrl: string | undefined;
  /** The code that the person enters. */
  readonly userCode: string;
  /** When the code ends, in milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** Resolves when the tokens are stored; rejects when the sign-in has failed, was refused or cancelled. */
  readonly finished: Promise<void>;
  /** Ends the sign-in. Idempotent. */
  cancel(): void;
}

/** A sign-in without a person: the tokens are stored already (`client_credentials`, `jwt_bearer`). */
export interface ServiceSignIn {
  /** Tells the kinds of sign-ins apart. */
  readonly kind: "service";
  /** Resolved. */
  readonly finished: Promise<void>;
}

/** A sign-in that is under way. */
export type SignIn = BrowserSignIn | DeviceSignIn | ServiceSignIn;

/** What is known about the sign-in of one MCP server; without any token. */
export interface SignInStatus {
  /** The name of the MCP server. */
  readonly server: string;
  /** The URL of the MCP server. */
  readonly resource: string;
  /** The authorization server; `undefined` before the first sign-in. */
  readonly issuer: string | undefined;
  /** `expired` only where the access token is not renewed without a person. */
  readonly state: "signed in" | "expired" | "signed out";
  /** The id that the authorization server knows this Computer by. */
  readonly clientId: string | undefined;
  /** The granted scopes. */
  readonly scopes: readonly string[];
  /** Scopes that the MCP server has asked for and the tokens do not have. */
  readonly missingScopes: readonly string[];
  /** When the access token ends, in milliseconds since 1970. */
  readonly expiresAtMs: number | undefined;
  /** Whether it is renewed without a person. */
  readonly isRenewable: boolean;
  /** When somebody signed in last, in milliseconds since 1970. */
  readonly signedInAtMs: number | undefined;
}

/** What a sign-out did. */
export interface SignOutResult {
  /** Whether there was a sign-in. */
  readonly wasSignedIn: boolean;
  /** Whether the authorization server revoked the tokens; false where it offers no revocation or did not answer. */
  readonly isRevoked: boolean;
}
