/** Tokens that are bound to a key (DPoP, RFC 9449): which sign-ins ask for them, and the proofs that go with them. */
import * as oauth from "oauth4webapi";
import { SignInError } from "../errors.ts";
import type { SignInTarget } from "./protected_server.ts";
import type { ProofKey } from "./token_store.ts";

/** The one algorithm of our keys, which nearly all servers know. */
const ALGORITHM = "ES256";
const CURVE = { name: "ECDSA", namedCurve: "P-256" };

/**
 * Creates the key for the tokens of a new sign-in; `undefined` where the MCP server does not want bound tokens, or takes
 * others as well and the authorization server issues no bound ones.
 *
 * @throws {SignInError} when the MCP server wants them and the authorization server does not issue them.
 */
export async function newProofKey(
  { resource, challenge, as: { metadata } }: SignInTarget,
): Promise<ProofKey | undefined> {
  const isRequired = resource?.dpop === "required" || challenge?.isDpop === true;
  if (!isRequired && resource?.dpop === undefined) return undefined;
  if (metadata.dpop_signing_alg_values_supported?.includes(ALGORITHM)) return await createKey();
  if (!isRequired) return undefined;
  throw new SignInError(
    "Cannot sign in: the MCP server wants tokens that are bound to a key (DPoP), and the authorization server " +
      `${metadata.issuer} does not issue them for keys of ${ALGORITHM}`,
  );
}

async function createKey(): Promise<ProofKey> {
  const { privateKey } = await crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]);
  const { x = "", y = "", d = "" } = await crypto.subtle.exportKey("jwk", privateKey);
  return { x, y, d };
}

/** Returns what signs proofs with a key. It remembers the nonces of the servers that it signs for. */
export async function proverOf(
  { x, y, d }: ProofKey,
  { clockSkewSeconds }: { readonly clockSkewSeconds: number },
): Promise<oauth.DPoPHandle> {
  const jwk = { kty: "EC", crv: CURVE.namedCurve, x, y };
  const publicKey = await crypto.subtle.importKey("jwk", jwk, CURVE, true, ["verify"]);
  const privateKey = await crypto.subtle.importKey("jwk", { ...jwk, d }, CURVE, false, ["sign"]);
  return oauth.DPoP({ [oauth.clockSkew]: clockSkewSeconds }, { publicKey, privateKey });
}

/** Runs a request for tokens, and once more when the authorization server wants its nonce in the proof. */
export async function withNonce<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return await request();
  }
}
