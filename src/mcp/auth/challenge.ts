/** What a refusal says about authorization (HTTP 401 and 403), and the scopes in it. Pure. */
import type { WWWAuthenticateChallenge } from "oauth4webapi";

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

/** The first challenges of `Bearer` and `DPoP` as one; `undefined` when there is none. */
export function toChallenge(challenges: readonly WWWAuthenticateChallenge[]): Challenge | undefined {
  const [bearer, dpop] = ["bearer", "dpop"].map((wanted) =>
    challenges.find(({ scheme }) => scheme === wanted)
  );
  if (bearer === undefined && dpop === undefined) return undefined;
  const { error, scope, resource_metadata: resourceMetadata } = {
    ...dpop?.parameters,
    ...bearer?.parameters,
  };
  return { error, scope, resourceMetadata, isDpop: bearer === undefined };
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
