import { assert, assertEquals, assertThrows } from "@std/assert";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { keysFor, parsePublicKeys, parseSecrets, readKeySet } from "../../../src/jwt/keys.ts";
import { FileContentError } from "../../../src/files/watched_files.ts";
import { SigningKey } from "../../fixtures/issuer.ts";
import { isWindows } from "../../fixtures/system.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

/** Which of these algorithms the keys fit. */
function algorithmsOf(keys: ReturnType<typeof readKeySet>): string[] {
  const all = ["none", "HS256", "RS256", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
  return all.filter((alg) => keysFor({ alg, kid: undefined }, keys).length > 0);
}

Deno.test("parseSecrets() takes one secret a line, each of at least 32 bytes", () => {
  const [a, b] = ["a".repeat(32), "ä".repeat(16)];
  const keys = parseSecrets(`${a}\n${b}\n`);
  assertEquals(keys.length, 2);
  assertEquals(algorithmsOf(keys), ["HS256"]);
  const bad = [
    "",
    "\n",
    "short",
    `${a}\nshort`,
    `-----BEGIN PUBLIC KEY-----\n${a}\n-----END PUBLIC KEY-----`,
  ];
  for (const text of bad) {
    const error = assertThrows(() => parseSecrets(text), FileContentError);
    assert(!error.message.includes("short,") && !error.message.includes(a), error.message);
  }
});

Deno.test("parsePublicKeys() takes PEM, a JWK and a set, and each key fits its own algorithms", async () => {
  const expected = { RS256: ["RS256", "PS512"], ES256: ["ES256"], ES384: ["ES384"], EdDSA: ["EdDSA"] };
  for (const [alg, fitting] of Object.entries(expected)) {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    assertEquals(algorithmsOf(parsePublicKeys(await exportSPKI(publicKey))), fitting);
    const pem = await exportPKCS8(privateKey);
    assertThrows(() => parsePublicKeys(pem), FileContentError, "private");
    const { jwk } = await SigningKey.generate(alg);
    for (const value of [jwk, { keys: [jwk] }]) {
      assertEquals(algorithmsOf(parsePublicKeys(JSON.stringify(value))), [alg]);
    }
  }
});

Deno.test(
  "parsePublicKeys() takes several PEM blocks, and a certificate",
  { ignore: isWindows },
  async () => {
    using folder = new TempFolder();
    const files = ["-keyout", `${folder.path}/key`, "-out", `${folder.path}/cert`];
    const kind = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-subj",
      "/CN=issuer",
    ];
    await new Deno.Command("openssl", { args: ["req", "-x509", ...kind, ...files] }).output();
    const certificate = await Deno.readTextFile(`${folder.path}/cert`);
    const { publicKey } = await generateKeyPair("RS256");
    const keys = parsePublicKeys(`${certificate}\n${await exportSPKI(publicKey)}`);
    assertEquals(algorithmsOf(keys), ["RS256", "PS512", "ES256"]);
  },
);

Deno.test("parsePublicKeys() refuses what has no public key", async () => {
  const { jwk } = await SigningKey.generate();
  const bad = [
    "",
    "garbage",
    "{}",
    "[]",
    '{"keys":[]}',
    '{"keys":[5]}',
    JSON.stringify({ kty: "oct", k: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", alg: "HS256" }),
    JSON.stringify({ ...jwk, d: "AAAA" }),
    JSON.stringify({ ...jwk, use: "enc" }),
    JSON.stringify({ ...jwk, key_ops: ["sign"] }),
    JSON.stringify({ ...jwk, alg: "none" }),
    JSON.stringify({ ...jwk, alg: "HS256" }),
    JSON.stringify({ ...jwk, crv: "__proto__", alg: undefined }),
    JSON.stringify({ keys: Array.from({ length: 101 }, () => jwk) }),
    "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
  ];
  for (const text of bad) assertThrows(() => parsePublicKeys(text), FileContentError, "", text);
});

Deno.test("a key with an id fits tokens that name it, or none", async () => {
  const { jwk } = await SigningKey.generate("ES256", "a");
  const keys = readKeySet({ keys: [jwk, { ...jwk, kid: undefined }] });
  const fitting = (kid: string | undefined) => keysFor({ alg: "ES256", kid }, keys).map((key) => key.kid);
  assertEquals([fitting("a"), fitting("b"), fitting(undefined)], [["a", undefined], [undefined], [
    "a",
    undefined,
  ]]);
});
