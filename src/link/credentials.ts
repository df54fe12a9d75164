/** Credentials that change: they are asked for before each connection. */
import { abortable } from "../async/abortable.ts";
import { BoundedSet } from "../async/bounded_collections.ts";
import { withDeadline } from "../async/deadline.ts";
import { AuthenticationError } from "./errors.ts";
import { plainTextWarning } from "../protocol/server_address.ts";
import { describeError } from "../text/text.ts";
import type { ConnectOptions } from "./connect.ts";
import type { RetryOptions } from "./retry.ts";

/** What a member sends to be admitted. */
export interface SentCredentials {
  /** Sent as the field `token` of the Socket.IO `auth` object. */
  readonly token?: string | undefined;
  /** Further fields of the `auth` object. */
  readonly auth?: Readonly<Record<string, unknown>> | undefined;
  /** HTTP headers of the connection. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Gives the credentials for one connection. It is called before the first connection and before each further one, so that
 * a member with short-lived credentials stays in its office, and shortly before they expire if the Server says so. A failure ends the first attempt to connect; after a lost
 * connection it is retried.
 *
 * @param context `signal` is aborted when the credentials are no longer needed, or have taken too long. `url` is that of
 * the Server.
 */
export type CredentialsSource = (
  context: { readonly signal: AbortSignal; readonly url?: string | undefined },
) => SentCredentials | Promise<SentCredentials>;

/** Where a Server is, and what it is sent. */
export interface ServerAccess extends SentCredentials, RetryOptions {
  /** The Server, such as `http://127.0.0.1:3000`; a path in it is the beginning of the Socket.IO path. */
  readonly url: string;
  /**
   * Gives the credentials for each connection, such as a JWT that is short-lived; `token`, `auth` and `headers` are sent
   * as well. Shortly before they expire, it is asked for newer ones. When the Server ends the connection because the
   * credentials have expired or were revoked, they are asked for again, and the member comes back.
   */
  readonly credentials?: CredentialsSource | undefined;
  /** The certificate authorities that may have signed the Server's certificate, as PEM; those of the runtime by default. */
  readonly ca?: string | undefined;
  /** The Socket.IO path below the URL; `/socket.io/` by default. */
  readonly path?: string | undefined;
}

/** The warnings that this process has given; the oldest of more may come again. */
const warnings = new BoundedSet<string>(1_000);

/** See {@linkcode plainTextWarning}; once, since a program may connect to its Server again and again. */
export function newPlainTextWarning(...sent: Parameters<typeof plainTextWarning>): string | undefined {
  const warning = plainTextWarning(...sent);
  if (warning === undefined || warnings.has(warning)) return undefined;
  warnings.add(warning);
  return warning;
}

export class NoCredentialsError extends AuthenticationError {}

/**
 * Adds the credentials of the source to those of the options.
 *
 * @throws {NoCredentialsError} when the source fails, or takes longer than `timeoutMs`.
 */
export async function withCredentials(
  options: ConnectOptions & { readonly credentials?: CredentialsSource | undefined },
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<ConnectOptions> {
  const { credentials, ...place } = options;
  if (credentials === undefined) return place;
  const reason = () => new TypeError(`No credentials within ${Math.round(timeoutMs)} ms`);
  try {
    const { token, auth, headers } = await withDeadline(
      timeoutMs,
      { reason, signal },
      (signal) => abortable(Promise.resolve(credentials({ signal, url: place.url })), signal),
    );
    return {
      ...place,
      auth: { ...place.auth, ...(token === undefined ? {} : { token }), ...auth },
      headers: { ...place.headers, ...headers },
    };
  } catch (cause) {
    signal.throwIfAborted();
    throw new NoCredentialsError(`Cannot get credentials: ${describeError(cause)}`, { cause });
  }
}
