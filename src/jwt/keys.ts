/** The keys that verify a JWT: secrets, public keys, and sets of keys. */
import { createPublicKey, X509Certificate } from "node:crypto";
import type { JWK, ProtectedHeaderParameters as Header } from "jose";
import { contentProblem } from "../files/watched_files.ts";
import { isRecord, parseJson } from "../json/json.ts";
import { MAX_KEYS } from "./bounds.ts";

export const SECRET_ALGORITHMS: readonly string[] = ["HS256", "HS384", "HS512"];
/** What the keys of each kind may verify. A symmetric key is of none of them, so it never verifies as a public one. */
const ALGORITHMS_OF_KIND: ReadonlyMap<string, readonly string[]> = new Map([
  ["RSA", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]],
  ["EC P-256", ["ES256"]],
  ["EC P-384", ["ES384"]],
  ["EC P-521", ["ES512"]],
  ["OKP Ed25519", ["EdDSA", "Ed25519"]],
]);
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [...ALGORITHMS_OF_KIND.values()].flat();
/** The shortest secret, in bytes: as long as the hash of HS256 (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;

export interface VerificationKey {
  readonly algorithms: readonly string[];
  /** A key without an id fits tokens with any. */
  readonly kid?: unknown;
  readonly key: JWK | Uint8Array;
}

/** The keys that fit a token by its header, which anybody may have written. */
export function keysFor({ alg, kid }: Header, keys: readonly VerificationKey[]): readonly VerificationKey[] {
  return keys.filter((key) =>
    key.algorithms.some((each) => each === alg) &&
    (key.kid === undefined || typeof kid !== "string" || key.kid === kid)
  );
}

/**
 * Reads secrets, one a line, so that a new one can be added before the old one is removed.
 *
 * @throws {FileContentError} for a secret that is too short, and for a key of another kind.
 */
export function parseSecrets(text: string): readonly VerificationKey[] {
  if (text.includes("-----BEGIN")) throw contentProblem("it is a key in PEM form, and not a shared secret");
  const secrets = text.split(/\r?\n/).filter((line) => line !== "").map((line) =>
    new TextEncoder().encode(line)
  );
  if (secrets.length === 0) throw contentProblem("it contains no secret");
  if (secrets.some((secret) => secret.length < MIN_SECRET_BYTES)) {
    throw contentProblem(`a secret needs at least ${MIN_SECRET_BYTES} bytes, as from "openssl rand -hex 32"`);
  }
  return secrets.map((key) => ({ algorithms: SECRET_ALGORITHMS, key }));
}

/** @throws {FileContentError} when it has no usable key, or a private one. */
export function parsePublicKeys(text: string): readonly VerificationKey[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw contentProblem(PRIVATE_KEY);
  const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g);
  const keys = blocks === null ? readKeySet(parseJson(text)) : blocks.map(readPem).flatMap(toKey);
  if (keys.length === 0) throw contentProblem("it has no public key for JWT: PEM, JWK or a set of JWKs");
  return keys;
}

const PRIVATE_KEY = "it has a private key; give the public key alone";

/**
 * Reads a set of keys, or a single one. Keys that are not for signatures, or of a kind that is not known, are left out.
 *
 * @throws {FileContentError} for anything else, for more than 100 keys, and for a private key.
 */
export function readKeySet(value: unknown): readonly VerificationKey[] {
  const list = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"] : [value];
  if (list.length > MAX_KEYS) {
    throw contentProblem(`it has more than ${MAX_KEYS} keys`);
  }
  if (!list.every(isRecord)) throw contentProblem("it is not a set of keys");
  if (list.some((jwk) => Object.hasOwn(jwk, "d"))) throw contentProblem(PRIVATE_KEY);
  return list.flatMap(toKey);
}

function readPem(block: string): JWK {
  try {
    const isCertificate = block.startsWith("-----BEGIN CERTIFICATE");
    const key = isCertificate ? new X509Certificate(block).publicKey : createPublicKey(block);
    return { ...key.export({ format: "jwk" }) };
  } catch (cause) {
    throw contentProblem("a PEM block is not a public key", { cause });
  }
}

function toKey(jwk: JWK): readonly VerificationKey[] {
  const { kty, crv, alg, use, kid, key_ops: operations } = jwk;
  const possible = ALGORITHMS_OF_KIND.get(kty === "RSA" ? kty : `${kty} ${crv}`) ?? [];
  const algorithms = possible.filter((each) => alg === undefined || each === alg);
  const isForSignatures = (use === undefined || use === "sig") &&
    (!Array.isArray(operations) || operations.includes("verify"));
  return algorithms.length > 0 && isForSignatures ? [{ algorithms, kid, key: jwk }] : [];
}
