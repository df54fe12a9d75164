import { assertEquals, assertRejects } from "@std/assert";
import { importPrivateKey } from "../../../../src/mcp/auth/private_key.ts";
import { ConfigurationError } from "../../../../src/mcp/errors.ts";

const METADATA = { issuer: "https://auth.example" };

async function keys(algorithm: EcKeyGenParams | RsaHashedKeyGenParams | Algorithm) {
  const generated = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  if (!("privateKey" in generated)) throw new TypeError("Not a key pair");
  const bytes = new Uint8Array(await crypto.subtle.exportKey("pkcs8", generated.privateKey));
  const lines = bytes.toBase64().replaceAll(/.{64}/g, "$&\n");
  return {
    pem: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
    jwk: { ...await crypto.subtle.exportKey("jwk", generated.privateKey) },
  };
}

const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
};

Deno.test("importPrivateKey() finds the algorithm of a key in PEM and in JSON", async () => {
  for (
    const [algorithm, name] of [
      [{ name: "ECDSA", namedCurve: "P-256" }, "ECDSA"],
      [{ name: "ECDSA", namedCurve: "P-384" }, "ECDSA"],
      [{ name: "Ed25519" }, "Ed25519"],
      [RSA, "RSASSA-PKCS1-v1_5"],
    ] as const
  ) {
    const { pem, jwk } = await keys(algorithm);
    const texts = [
      pem,
      pem.replaceAll("\n", "\\n"),
      // As openssl writes it from a PKCS #12 file.
      `\n  Bag Attributes\n    friendlyName: a\n${pem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      JSON.stringify(jwk),
      JSON.stringify({ ...jwk, key_ops: ["sign", "verify"] }),
    ];
    for (const privateKey of texts) {
      assertEquals((await importPrivateKey({ privateKey }, METADATA)).key.algorithm.name, name);
    }
  }
});

Deno.test("importPrivateKey() takes the configured algorithm, or one that the authorization server knows", async () => {
  const { pem: privateKey } = await keys(RSA);
  const known = { ...METADATA, token_endpoint_auth_signing_alg_values_supported: ["PS256"] };
  assertEquals((await importPrivateKey({ privateKey }, known)).key.algorithm.name, "RSA-PSS");
  const configured = await importPrivateKey({ privateKey, keyAlgorithm: "PS384", keyId: "k1" }, METADATA);
  assertEquals([configured.key.algorithm.name, configured.kid], ["RSA-PSS", "k1"]);
});

Deno.test("importPrivateKey() refuses what is no private key, and does not show it", async () => {
  const { jwk } = await keys({ name: "ECDSA", namedCurve: "P-256" });
  const { d: _private, ...publicKey } = jwk;
  for (
    const privateKey of [
      "s3cret",
      JSON.stringify(publicKey),
      "-----BEGIN PRIVATE KEY-----s3cret-----END PRIVATE KEY-----",
    ]
  ) {
    const error = await assertRejects(() => importPrivateKey({ privateKey }, METADATA), ConfigurationError);
    assertEquals(error.message.includes("s3cret"), false);
  }
});
