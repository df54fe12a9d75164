/** Reads the address of a Server: its URL and its Socket.IO path. */

export const DEFAULT_SOCKET_PATH = "/socket.io/";

export interface ServerAddress {
  /** Scheme, host and port, such as `https://example.com`. */
  readonly origin: string;
  /** The Socket.IO path: the path of the URL, then the path below it. */
  readonly path: string;
  /** Whether messages to it cross a network without encryption. */
  readonly isPlainText: boolean;
}

const SCHEMES = ["http:", "https:", "ws:", "wss:"];

/** Whether a host is the loopback interface: a name, an IPv4 address, or an IPv6 address with or without brackets. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/i.test(host);
}

/**
 * Parses the address of a Server. The path of the URL is the beginning of the Socket.IO path: for
 * `https://example.com/a2c` it is `/a2c/socket.io/`.
 *
 * @param path The Socket.IO path below the URL; `/socket.io/` by default.
 * @throws {TypeError} when the scheme is not http, https, ws or wss, and for a user name, a query or a fragment.
 */
export function parseServerAddress(url: string, path: string = DEFAULT_SOCKET_PATH): ServerAddress {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !SCHEMES.includes(parsed.protocol)) {
    throw new TypeError(
      `Cannot connect to "${url}": url must be http://HOST:PORT or https://HOST/PATH`,
    );
  }
  const { origin, protocol, hostname, pathname, username, password, search, hash } = parsed;
  if (username !== "" || password !== "") {
    throw new TypeError(
      "Cannot connect to the Server: url has a user name or password; send them as a header",
    );
  }
  if (search !== "" || hash !== "") {
    throw new TypeError(`Cannot connect to "${url}": url has a query or a fragment`);
  }
  const isPlainText = (protocol === "http:" || protocol === "ws:") && !isLoopback(hostname);
  const below = path.startsWith("/") ? path : `/${path}`;
  return { origin, path: `${pathname.replace(/\/+$/, "")}${below}`, isPlainText };
}

/** Fields of the auth object that the library adds by itself. They admit nobody. */
const OWN_FIELDS: readonly string[] = ["session", "observer"];

/**
 * A warning for credentials that would cross a network without encryption; `undefined` with TLS, for this machine, and
 * without credentials.
 */
export function plainTextWarning(
  url: string,
  sent: {
    readonly auth?: Readonly<Record<string, unknown>> | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** A source of further credentials, usually a token. */
    readonly credentials?: unknown;
  },
): string | undefined {
  const source = sent.credentials === undefined ? [] : ["token"];
  const fields = Object.keys(sent.auth ?? {}).filter((name) => !OWN_FIELDS.includes(name));
  const names = [...new Set([...source, ...fields, ...Object.keys(sent.headers ?? {})])];
  if (names.length === 0 || !parseServerAddress(url).isPlainText) return undefined;
  return `credentials (${
    names.join(", ")
  }) can be read on the way to "${url}", which has no TLS; use https://`;
}
