/** Private keys by which a client authenticates (`private_key_jwt`). */
import type { AuthorizationServer } from "oauth4webapi";
import type { OAuthSettings } from "../../protocol/config.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { ConfigurationError } from "../errors.ts";

/** An algorithm of JSON Web Signatures, and the key that Web Crypto reads for it. */
const ALGORITHMS:
  readonly (readonly [jws: string, key: EcKeyImportParams | RsaHashedImportParams | Algorithm])[] = [
    ["ES256", { name: "ECDSA", namedCurve: "P-256" }],
    ["ES384", { name: "ECDSA", namedCurve: "P-384" }],
    ["ES512", { name: "ECDSA", namedCurve: "P-521" }],
    ["Ed25519", { name: "Ed25519" }],
    ["RS256", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }],
    ["RS384", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384" }],
    ["RS512", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" }],
    ["PS256", { name: "RSA-PSS", hash: "SHA-256" }],
    ["PS384", { name: "RSA-PSS", hash: "SHA-384" }],
    ["PS512", { name: "RSA-PSS", hash: "SHA-512" }],
  ];

/**
 * Reads a private key: PKCS #8 in PEM, or a JSON Web Key. Of the algorithms that fit the key, it takes the configured one,
 * or the first that the authorization server knows.
 *
 * @throws {ConfigurationError} when the key cannot be read. The message does not contain it.
 */
export async function importPrivateKey(
  { privateKey: text, keyId, keyAlgorithm }: OAuthSettings & { privateKey: string },
  metadata: AuthorizationServer,
): Promise<{ key: CryptoKey; kid?: string }> {
  const parsed = parseJson(text);
  const jwk = isRecord(parsed) ? parsed : undefined;
  const read = jwk === undefined ? pemImporter(text) : jwkImporter(jwk);
  const own = keyAlgorithm ?? (typeof jwk?.["alg"] === "string" ? jwk["alg"] : undefined);
  const known = metadata.token_endpoint_auth_signing_alg_values_supported;
  const fitting = ALGORITHMS.filter(([jws]) =>
    own === undefined || jws === own || (own === "EdDSA" && jws === "Ed25519")
  );
  const isKnown = (jws: string) =>
    known === undefined || known.includes(jws) || (jws === "Ed25519" && known.includes("EdDSA"));
  const id = keyId ?? jwk?.["kid"];
  const kid = typeof id === "string" ? { kid: id } : {};
  for (const [, algorithm] of [...fitting.filter(([jws]) => isKnown(jws)), ...fitting]) {
    const key = await read(algorithm).catch(() => undefined);
    if (key !== undefined) return { key, ...kid };
  }
  throw new ConfigurationError(
    'Cannot read "privateKey" in the "oauth" of the server: it must be a private key, in PEM (PKCS #8) or as a JSON Web Key',
  );
}

type Importer = (algorithm: EcKeyImportParams | RsaHashedImportParams | Algorithm) => Promise<CryptoKey>;

function jwkImporter(jwk: Readonly<Record<string, unknown>>): Importer {
  const { kty, crv, n, e, d, p, q, dp, dq, qi, x, y } = jwk;
  const members = Object.entries({ kty, crv, n, e, d, p, q, dp, dq, qi, x, y })
    .filter(([, value]) => typeof value === "string");
  return (algorithm) =>
    d === undefined
      ? Promise.reject(new TypeError("Not a private key"))
      : crypto.subtle.importKey("jwk", Object.fromEntries(members), algorithm, false, ["sign"]);
}

function pemImporter(text: string): Importer {
  const [, base64 = ""] = /-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----/.exec(text) ?? [];
  // A key in an environment variable often has its line breaks as "\n".
  return async (algorithm) => {
    const bytes = Uint8Array.fromBase64(base64.replaceAll(/\\n|\s/g, ""));
    return await crypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]);
  };
}
