/** The keys that verify a JWT: secrets, public keys, and sets of keys. */
import { createPublicKey, X509Certificate } from "node:crypto";
import type { CryptoKey, JWK } from "jose";
import { isRecord, parseJson } from "../../json.ts";
import { contentProblem } from "../files/file_content.ts";

export const SECRET_ALGORITHMS: readonly string[] = ["HS256", "HS384", "HS512"];
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const MAX_KEYS = 100;
/** The shortest secret, in bytes: as long as the hash of HS256 (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;

export interface KeyChoice {
  readonly alg: string;
  readonly kid: string | undefined;
}

export interface VerificationKey {
  /** Whether the token names this key, or none, and this key may have its algorithm. */
  fits(choice: KeyChoice): boolean;
  prepare(alg: string): Promise<CryptoKey | Uint8Array>;
}

/**
 * Reads secrets, one a line, so that a new one can be added before the old one is removed.
 *
 * @throws {FileContentError} for a secret that is too short, and for a key of another kind.
 */
export function parseSecrets(text: string): readonly VerificationKey[] {
  if (text.includes("-----BEGIN")) throw contentProblem("it is a key in PEM form, and not a shared secret");
  const secrets = text.split(/\r\n|\n/).filter((line) => line !== "");
  if (secrets.length === 0) throw contentProblem("it contains no secret");
  return secrets.map((secret) => {
    const bytes = new TextEncoder().encode(secret);
    if (bytes.length < MIN_SECRET_BYTES) {
      throw contentProblem(
        `a secret needs at least ${MIN_SECRET_BYTES} bytes, as from "openssl rand -hex 32"`,
      );
    }
    return {
      fits: ({ alg }) => SECRET_ALGORITHMS.includes(alg),
      prepare: () => Promise.resolve(bytes),
    };
  });
}

/** @throws {FileContentError} when it has no usable key, or a private one. */
export function parsePublicKeys(text: string): readonly VerificationKey[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw contentProblem("it has a private key; give the public key alone");
  }
  const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g);
  const keys = blocks === null ? readKeySet(parseJson(text)) : blocks.map(readPem).map(toKey);
  const usable = keys.filter((key) => key !== undefined);
  if (usable.length === 0) throw contentProblem("it has no public key for JWT: PEM, JWK or a set of JWKs");
  return usable;
}

/**
 * Reads a set of keys, or a single one. Keys that are not for signatures, or of a kind that is not known, are left out.
 *
 * @throws {FileContentError} for anything else, for more than 100 keys, and for a private key.
 */
export function readKeySet(value: unknown): readonly VerificationKey[] {
  const list = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"] : [value];
  if (list.length > MAX_KEYS) throw contentProblem(`it has more than ${MAX_KEYS} keys`);
  const jwks = list.filter(isRecord);
  if (jwks.length !== list.length) throw contentProblem("it is not a set of keys");
  if (jwks.some((jwk) => Object.hasOwn(jwk, "d"))) {
    throw contentProblem("it has a private key; give the public key alone");
  }
  return jwks.map(toKey).filter((key) => key !== undefined);
}

function readPem(block: string): Readonly<Record<string, unknown>> {
  try {
    const isCertificate = block.startsWith("-----BEGIN CERTIFICATE");
    const key = isCertificate ? new X509Certificate(block).publicKey : createPublicKey(block);
    return { ...key.export({ format: "jwk" }) };
  } catch (cause) {
    throw contentProblem("a PEM block is not a public key", { cause });
  }
}

/** The algorithms of a key; none for a kind that is not known. A symmetric key never verifies as a public one. */
function algorithmsOf({ kty, crv }: Readonly<Record<string, unknown>>): readonly string[] {
  if (kty === "RSA") return PUBLIC_KEY_ALGORITHMS.filter((alg) => /^[RP]S/.test(alg));
  if (kty === "OKP" && crv === "Ed25519") return ["EdDSA", "Ed25519"];
  if (kty !== "EC") return [];
  const ofCurve: Readonly<Record<string, string>> = { "P-256": "ES256", "P-384": "ES384", "P-521": "ES512" };
  const alg = typeof crv === "string" && Object.hasOwn(ofCurve, crv) ? ofCurve[crv] : undefined;
  return alg === undefined ? [] : [alg];
}

function toKey(jwk: Readonly<Record<string, unknown>>): VerificationKey | undefined {
  const { alg, use, kid, key_ops: operations } = jwk;
  const possible = algorithmsOf(jwk);
  const algorithms = alg === undefined ? possible : possible.filter((each) => each === alg);
  const isForSignatures = (use === undefined || use === "sig") &&
    (!Array.isArray(operations) || operations.includes("verify"));
  if (algorithms.length === 0 || !isForSignatures) return undefined;
  const prepared = new Map<string, Promise<CryptoKey | Uint8Array>>();
  return {
    fits: (choice) =>
      algorithms.includes(choice.alg) &&
      (kid === undefined || choice.kid === undefined || kid === choice.kid),
    prepare(chosen) {
      const known = prepared.get(chosen) ?? importKey(jwk, chosen);
      prepared.set(chosen, known);
      return known;
    },
  };
}

async function importKey(jwk: JWK, alg: string): Promise<CryptoKey | Uint8Array> {
  const { importJWK } = await import("jose");
  return await importJWK(jwk, alg);
}
