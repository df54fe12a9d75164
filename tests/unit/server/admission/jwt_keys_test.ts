import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { silentLogger } from "../../../../src/log.ts";
import {
  keysFor,
  parsePublicKeys,
  parseSecrets,
  readKeySet,
  RemoteKeys,
} from "../../../../src/server/admission/jwt_keys.ts";
import { FileContentError } from "../../../../src/files/watched_files.ts";
import { KeySetServer, SigningKey } from "../../../fixtures/issuer.ts";
import { LogBook } from "../../../fixtures/log_book.ts";
import { eventually } from "../../../fixtures/within.ts";

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

Deno.test("parsePublicKeys() takes several PEM blocks, and a certificate", async () => {
  const folder = await Deno.makeTempDir();
  const files = ["-keyout", `${folder}/key`, "-out", `${folder}/cert`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=issuer"];
  await new Deno.Command("openssl", { args: ["req", "-x509", ...kind, ...files] }).output();
  const certificate = await Deno.readTextFile(`${folder}/cert`);
  await Deno.remove(folder, { recursive: true });
  const { publicKey } = await generateKeyPair("RS256");
  const keys = parsePublicKeys(`${certificate}\n${await exportSPKI(publicKey)}`);
  assertEquals(algorithmsOf(keys), ["RS256", "PS512", "ES256"]);
});

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

const SECOND = 1_000;
const MINUTE = 60_000;
const [old, next] = [await SigningKey.generate("ES256", "old"), await SigningKey.generate("ES256", "next")];

/** Keys of a real server, and a clock that stands still. */
class Fetching implements AsyncDisposable {
  readonly server = new KeySetServer();
  readonly log = new LogBook();
  readonly keys: RemoteKeys;
  #nowMs = 0;

  constructor() {
    this.server.publish(old);
    this.keys = new RemoteKeys(this.server.url, { logger: this.log, nowMs: () => this.#nowMs });
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** Which of the two keys it has now. */
  async has(): Promise<unknown[]> {
    return (await this.keys.find({ alg: "ES256", kid: undefined })).map(({ kid }) => kid);
  }

  /** How many keys it has for a token that names this one. */
  async find(kid: string): Promise<number> {
    return (await this.keys.find({ alg: "ES256", kid })).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keys.close();
    await this.server[Symbol.asyncDispose]();
  }
}

Deno.test("keys are fetched once for all who wait", async () => {
  await using fetching = new Fetching();
  await Promise.all(Array.from({ length: 10 }, () => fetching.has()));
  assertEquals([await fetching.has(), fetching.server.requests], [["old"], 1]);
});

Deno.test("old keys are used while newer ones are fetched", async () => {
  await using fetching = new Fetching();
  assertEquals(await fetching.has(), ["old"]);
  fetching.server.publish(next);
  fetching.pass(9 * MINUTE);
  assertEquals([await fetching.has(), fetching.server.requests], [["old"], 1]);
  fetching.pass(2 * MINUTE);
  assertEquals(await fetching.has(), ["old"]);
  await eventually(() => fetching.has(), ([kid]) => kid === "next", "the newer keys");
  assertEquals(fetching.server.requests, 2);
});

Deno.test("a token with an unknown key causes a request, and many such tokens cause no more", async () => {
  await using fetching = new Fetching();
  assertEquals(await fetching.has(), ["old"]);
  fetching.server.publish(old, next);
  for (let i = 0; i < 50; i++) assertEquals(await fetching.find("next"), 0);
  fetching.pass(31 * SECOND);
  assertEquals(await fetching.find("next"), 1);
  for (let i = 0; i < 50; i++) assertEquals(await fetching.find(`guess-${i}`), 0);
  assertEquals(fetching.server.requests, 2);
});

Deno.test("keys stay in use for an hour while their server is down, with one line in the log", async () => {
  await using fetching = new Fetching();
  assertEquals(await fetching.has(), ["old"]);
  fetching.server.answer(() => new Response("down", { status: 503 }));
  for (let minutes = 0; minutes < 55; minutes += 11) {
    fetching.pass(11 * MINUTE);
    assertEquals(await fetching.has(), ["old"]);
    assertEquals(await fetching.find("next"), 0);
  }
  assertEquals(fetching.log.of("error").length, 1);
  fetching.pass(6 * MINUTE);
  await assertRejects(() => fetching.has(), Error, "503");
  // No request so soon after the last one.
  await assertRejects(() => fetching.has(), Error, "no key set");
  fetching.server.publish(next);
  fetching.pass(6 * SECOND);
  assertEquals(await fetching.has(), ["next"]);
  await fetching.log.until(({ message }) => message.startsWith("fetched the key set again"));
});

Deno.test("who asks whether there are keys makes them be fetched, at most every five seconds", async () => {
  await using fetching = new Fetching();
  fetching.server.answer(() => new Response("down", { status: 503 }));
  assertEquals(fetching.keys.unready(), "no key set for JWT: it is being fetched");
  await assertRejects(() => fetching.has(), Error, "503");
  for (let i = 0; i < 50; i++) {
    assertEquals(fetching.keys.unready(), "no key set for JWT: HTTP status 503");
  }
  assertEquals(fetching.server.requests, 1);
  fetching.server.publish(old);
  fetching.pass(6 * SECOND);
  await eventually(() => fetching.keys.unready(), (reason) => reason === undefined, "the keys");
  assertEquals(fetching.server.requests, 2);
});

Deno.test("keys are missing as well an hour after the last answer, but not because nobody asked for them", async () => {
  await using fetching = new Fetching();
  assertEquals(await fetching.has(), ["old"]);
  fetching.pass(61 * MINUTE);
  fetching.server.answer(() => new Response("down", { status: 503 }));
  assertEquals(fetching.keys.unready(), undefined);
  await eventually(
    () => fetching.keys.unready(),
    (reason) => reason === "no key set for JWT: HTTP status 503",
    "the failure",
  );
  fetching.server.publish(next);
  fetching.pass(6 * SECOND);
  await eventually(() => fetching.keys.unready(), (reason) => reason === undefined, "the keys");
  assertEquals([await fetching.has(), fetching.server.requests], [["next"], 3]);
});

Deno.test("only https, or this machine, may serve keys", () => {
  for (const url of ["http://issuer.example/", "http://127.0.0.1.example/", "ftp://127.0.0.1/", "", "//x"]) {
    assertThrows(() => new RemoteKeys(url, { logger: silentLogger }), TypeError, "https is required", url);
  }
  for (const url of ["https://issuer.example/", "http://localhost:8080/keys", "http://[::1]/"]) {
    new RemoteKeys(url, { logger: silentLogger });
  }
  new RemoteKeys("http://keycloak:8080/keys", { logger: silentLogger, allowHttp: true });
});
