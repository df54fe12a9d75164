/** Private keys by which a client authenticates (`private_key_jwt`). */
import type { AuthorizationServer } from "oauth4webapi";
import type { OAuthSettings } from "../../protocol/config.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { ConfigurationError } from "../errors.ts";

/** The algorithms of JSON Web Signatures, in the order in which a key takes them. */
const ALGORITHMS: readonly string[] = [
  ...["ES256", "ES384", "ES512", "Ed25519"],
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
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
  const own = keyAlgorithm ?? (typeof jwk?.["alg"] === "string" ? jwk["alg"] : undefined);
  const known = metadata.token_endpoint_auth_signing_alg_values_supported;
  const fitting = ALGORITHMS.filter((jws) =>
    own === undefined || jws === own || (own === "EdDSA" && jws === "Ed25519")
  );
  const isKnown = (jws: string) =>
    known === undefined || known.includes(jws) || (jws === "Ed25519" && known.includes("EdDSA"));
  const id = keyId ?? jwk?.["kid"];
  const kid = typeof id === "string" ? { kid: id } : {};
  const { importJWK, importPKCS8 } = await import("jose");
  // A key in an environment variable often has its line breaks as "\n"; attributes and certificates may surround it.
  const pem = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/.exec(text.replaceAll("\\n", "\n"));
  const read = (jws: string) =>
    jwk === undefined
      ? importPKCS8(pem?.[0] ?? "", jws)
      // The operations of the key may include some that a private key does not have.
      : importJWK({ ...jwk, key_ops: undefined }, jws, { extractable: false });
  for (const jws of [...fitting.filter(isKnown), ...fitting]) {
    const key = await read(jws).catch(() => undefined);
    if (key instanceof CryptoKey && key.type === "private") return { key, ...kid };
  }
  throw new ConfigurationError(
    'Cannot read "privateKey" in the "oauth" of the server: it must be a private key, in PEM (PKCS #8) or as a JSON Web Key',
  );
}
