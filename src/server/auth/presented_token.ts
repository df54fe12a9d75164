/** Finds the token that a client presents. */
import type { Credentials } from "./provider.ts";

/** The field of the Socket.IO `auth` object that holds a token, as all SDKs send it. */
export const DEFAULT_TOKEN_FIELD = "token";
/** The HTTP headers that may hold it: of older SDKs, and of programs that know HTTP alone. */
export const DEFAULT_TOKEN_HEADERS: readonly string[] = ["x-api-key", "authorization"];
const MAX_TOKEN_LENGTH = 16_384;

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
  const { field = DEFAULT_TOKEN_FIELD, header = DEFAULT_TOKEN_HEADERS } = place;
  const headers = (typeof header === "string" ? [header] : header).map((name) => name.toLowerCase());
  return ({ auth, headers: sent }) => {
    const own = Object.hasOwn(auth, field) ? auth[field] : undefined;
    const candidates = [own, ...headers.map((name) => readHeader(name, sent))];
    const token = candidates.find((value) => typeof value === "string" && value !== "");
    return typeof token === "string" && token.length <= MAX_TOKEN_LENGTH ? token : undefined;
  };
}

function readHeader(name: string, headers: Credentials["headers"]): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (typeof value !== "string") return undefined;
  // Other schemes, such as that of a proxy with passwords, are not for this Server.
  return name === "authorization" ? /^(?:Bearer +)?(\S+)$/i.exec(value)?.[1] : value;
}
