/** What a refusal says about authorization: the `WWW-Authenticate` header of HTTP 401 and 403. Pure. */

/** A header that is longer, in characters, is not read. */
const MAX_HEADER_LENGTH = 8_192;
/** A scheme, or the name and value of a parameter, from the place where the last match ended. */
const TOKEN = /[\s,]*([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;
/** The rest of a challenge with a `token68` in place of parameters. */
const CREDENTIALS = /[\s,]+[\w.~+/-]+=*(?=\s*(?:,|$))/y;

export interface Challenge {
  /** Such as `invalid_token` or `insufficient_scope`. */
  readonly error: string | undefined;
  /** The scopes that the request needs, separated by spaces. */
  readonly scope: string | undefined;
  /** The URL of the protected resource metadata (RFC 9728). */
  readonly resourceMetadata: string | undefined;
  /** Whether only tokens that are bound to a key (DPoP) help. */
  readonly isDpop: boolean;
}

/** Reads the first challenges of `Bearer` and `DPoP` as one; `undefined` when there is none. */
export function readChallenge(headers: Headers): Challenge | undefined {
  const header = headers.get("www-authenticate");
  if (header === null || header.length > MAX_HEADER_LENGTH) return undefined;
  const bearer = parametersOf("bearer", header);
  const dpop = parametersOf("dpop", header);
  if (bearer === undefined && dpop === undefined) return undefined;
  const valueOf = (name: string) => bearer?.get(name) ?? dpop?.get(name);
  return {
    error: valueOf("error"),
    scope: valueOf("scope"),
    resourceMetadata: valueOf("resource_metadata"),
    isDpop: bearer === undefined,
  };
}

/** The parameters of the first challenge of a scheme, by lower-case name. */
function parametersOf(wanted: string, header: string): ReadonlyMap<string, string> | undefined {
  let scheme: string | undefined;
  let parameters = new Map<string, string>();
  let index = 0;
  while (index < header.length) {
    TOKEN.lastIndex = index;
    const [whole, name, quoted, plain] = TOKEN.exec(header) ?? [];
    if (whole === undefined || name === undefined) break;
    index = TOKEN.lastIndex;
    const value = quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
    if (value !== undefined) {
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
      continue;
    }
    if (scheme === wanted) return parameters;
    scheme = name.toLowerCase();
    parameters = new Map();
    if (scheme !== wanted) index = afterCredentials(header, index);
  }
  return scheme === wanted ? parameters : undefined;
}

function afterCredentials(header: string, index: number): number {
  CREDENTIALS.lastIndex = index;
  return CREDENTIALS.exec(header) === null ? index : CREDENTIALS.lastIndex;
}

/** The longest list of scopes that is asked for, in characters: authorization servers refuse longer addresses. */
const MAX_SCOPES_LENGTH = 8_192;

/** The scopes in these texts, each once, as many as are asked for together: those of the first texts count most. */
export function scopesToAskFor(...texts: readonly (string | undefined)[]): string[] {
  let length = 0;
  return scopesIn(...texts).filter((scope) => {
    const isRoom = length + scope.length < MAX_SCOPES_LENGTH;
    if (isRoom) length += scope.length + 1;
    return isRoom;
  });
}

/** The characters of a scope (RFC 6749, appendix A.4). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export function scopesIn(...texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts.flatMap((text) => text?.split(/\s+/).filter((scope) => SCOPE.test(scope)) ?? []))];
}
