/** Attacker: whoever holds a JWT of somebody else, an old one, or none, and makes up tokens by hand */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHmac, sign as signBytes } from "node:crypto";
import { CompactEncrypt, exportPKCS8, exportSPKI, importJWK } from "jose";
import { JwtTokens, SmcpServer } from "../../server.ts";
import { AUDIENCE, ISSUER, SigningKey, signWithSecret, validClaims } from "../fixtures/issuer.ts";
import { RawPeer } from "../integration/_socket.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const key = await SigningKey.generate("RS256", "k1");
const imported = await importJWK(key.jwk, "RS256", { extractable: true });
assert(imported instanceof CryptoKey);
const pem = await exportSPKI(imported);

/** Writes a part of a token by hand. */
function part(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return Buffer.from(text).toString("base64url");
}

/** A token that is signed by whatever `sign` does. */
function forge(header: unknown, claims: unknown, sign: (input: string) => string): string {
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${sign(input)}`;
}

/** Signs with an HMAC, as for a shared secret. */
function hmac(secret: string | Uint8Array): (input: string) => string {
  return (input) => createHmac("sha256", secret).update(input).digest("base64url");
}

/** Asks a Server with these keys to admit the token; resolves to what it says. */
async function admission(auth: JwtTokens, token: unknown): Promise<string> {
  await using server = await SmcpServer.listen({ port: 0, auth });
  try {
    await using _peer = await RawPeer.connect(server.url, { auth: { token } });
    return "admitted";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const open = {
  key: () => JwtTokens.open({ publicKey: pem, issuer: ISSUER, audience: AUDIENCE }),
  set: () =>
    JwtTokens.open({ publicKey: JSON.stringify({ keys: [key.jwk] }), issuer: ISSUER, audience: AUDIENCE }),
  secret: () => JwtTokens.open({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE }),
};

Deno.test("a token without a signature, in any spelling of none, admits nobody", async () => {
  for (const opening of Object.values(open)) {
    await using auth = await opening();
    for (const alg of ["none", "None", "NONE", "nOnE", "", null, undefined, ["none"], { none: 1 }, 0]) {
      for (const sign of [() => "", hmac(""), () => part("")]) {
        const token = forge({ alg, typ: "JWT", kid: "k1" }, validClaims(), sign);
        assertEquals(await admission(auth, token), "Unauthorized: wrong token", JSON.stringify(alg));
      }
    }
    assertEquals(
      await admission(auth, `${part({ alg: "none" })}.${part(validClaims())}`),
      "Unauthorized: wrong token",
    );
  }
});

Deno.test("the public key as the secret of an HMAC admits nobody", async () => {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");
  const secrets = [pem, pem.trim(), `${pem.trim()}\n`, der, JSON.stringify(key.jwk), String(key.jwk.n)];
  for (const opening of [open.key, open.set]) {
    await using auth = await opening();
    for (const secret of secrets) {
      for (const header of [{ alg: "HS256" }, { alg: "HS256", kid: "k1" }]) {
        assertEquals(
          await admission(auth, forge(header, validClaims(), hmac(secret))),
          "Unauthorized: wrong token",
        );
      }
    }
  }
});

Deno.test("a genuine signature by another algorithm than the key's admits nobody", async () => {
  const privateKey = await exportPKCS8(key.privateKey);
  const rs512 = forge(
    { alg: "RS512", kid: "k1" },
    validClaims(),
    (input) => signBytes("sha512", Buffer.from(input), privateKey).toString("base64url"),
  );
  await using set = await open.set();
  assertEquals(await admission(set, rs512), "Unauthorized: wrong token");
  await using auth = await JwtTokens.open({ publicKey: pem, issuer: ISSUER, algorithms: ["RS256"] });
  assertEquals(await admission(auth, rs512), "Unauthorized: wrong token");
});

Deno.test("keys and addresses that a token brings along are not used", async () => {
  const own = await SigningKey.generate("RS256", "k1");
  const headers = [
    { jwk: own.jwk },
    { jku: "http://127.0.0.1:1/keys" },
    { x5u: "http://127.0.0.1:1/cert" },
    { x5c: ["AAAA"] },
    { kid: "k2", jwk: own.jwk },
  ];
  for (const opening of [open.key, open.set]) {
    await using auth = await opening();
    for (const header of headers) {
      assertEquals(await admission(auth, await own.sign({}, header)), "Unauthorized: wrong token");
    }
  }
});

Deno.test("no key id leads to a file, a member of an object or another key", async () => {
  const kids: readonly unknown[] = [
    "../../../../dev/null",
    "/dev/null",
    "' UNION SELECT 'x",
    "__proto__",
    "constructor",
    "k1\u0000",
    "K1",
    "",
    "k".repeat(10_000),
    5,
    null,
    ["k1"],
    { k1: 1 },
  ];
  await using auth = await open.set();
  for (const kid of kids) {
    for (const secret of ["", "\n", "null"]) {
      const token = forge({ alg: "HS256", kid }, validClaims(), hmac(secret));
      assertEquals(await admission(auth, token), "Unauthorized: wrong token", JSON.stringify(kid));
    }
  }
});

Deno.test("critical headers, unencoded payloads and encrypted tokens are refused", async () => {
  await using auth = await open.secret();
  const headers = [{ crit: ["exp"], exp: 1 }, { b64: false, crit: ["b64"] }, { crit: ["x"], x: 1 }, {
    crit: [],
  }];
  for (const header of headers) {
    const token = forge({ alg: "HS256", ...header }, validClaims(), hmac(SECRET));
    assertEquals(await admission(auth, token), "Unauthorized: wrong token", JSON.stringify(header));
  }
  const encrypted = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(validClaims())))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" }).encrypt(new TextEncoder().encode(SECRET));
  assertEquals(await admission(auth, encrypted), "Unauthorized: wrong token");
});

Deno.test("a token of another time, issuer or audience admits nobody", async () => {
  const now = Math.floor(Date.now() / 1_000);
  const claims: readonly Record<string, unknown>[] = [
    // Beyond the tolerance of 30 s; what is too early stays so while a busy machine gets to it.
    { exp: now - 31 },
    { exp: 0 },
    { exp: -1 },
    { exp: undefined },
    { exp: null },
    { exp: "9999999999" },
    { exp: [now + 60] },
    { nbf: now + 600 },
    { nbf: "0" },
    { iss: `${ISSUER}/` },
    { iss: ISSUER.toUpperCase() },
    { iss: [ISSUER] },
    { iss: undefined },
    { aud: "A2C" },
    { aud: "a2c2" },
    { aud: [] },
    { aud: [[AUDIENCE]] },
    { aud: { a2c: true } },
    { aud: undefined },
  ];
  await using auth = await open.secret();
  await using server = await SmcpServer.listen({ port: 0, auth });
  for (const each of claims) {
    const token = forge({ alg: "HS256" }, { ...validClaims(), ...each }, hmac(SECRET));
    const outcome = await RawPeer.connect(server.url, { auth: { token } }).then(() => "admitted", String);
    assert(outcome.includes("Unauthorized"), `${JSON.stringify(each)}: ${outcome}`);
  }
});

Deno.test("texts that are no token, however large or odd, admit nobody and harm nobody", async () => {
  const genuine = await signWithSecret(SECRET);
  const [header = "", claims = "", signature = ""] = genuine.split(".");
  const texts: readonly unknown[] = [
    "",
    ".",
    "..",
    "...",
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}.${claims}.${signature}.`,
    `${header}.${claims}.${signature}=`,
    `${header}.${claims}.${signature.slice(1)}`,
    ` ${genuine}`,
    `${genuine}\n`,
    `Bearer ${genuine}`,
    ".".repeat(10_000),
    "A".repeat(16_384),
    `${header}.${"A".repeat(30_000)}.${signature}`,
    forge({ alg: "HS256" }, `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, hmac(SECRET)),
    forge({ alg: "HS256" }, "[]", hmac(SECRET)),
    forge({ alg: "HS256" }, "null", hmac(SECRET)),
    forge({ alg: "HS256" }, "\ud800", hmac(SECRET)),
    forge("null", validClaims(), hmac(SECRET)),
    forge("[]", validClaims(), hmac(SECRET)),
    [genuine],
    { token: genuine },
    5,
  ];
  await using auth = await open.secret();
  await using server = await SmcpServer.listen({ port: 0, auth });
  for (const token of texts) {
    const outcome = await RawPeer.connect(server.url, { auth: { token } }).then(() => "admitted", String);
    assert(outcome.includes("Unauthorized"), `${JSON.stringify(token).slice(0, 80)}: ${outcome}`);
  }
  await using _peer = await RawPeer.connect(server.url, { auth: { token: genuine } });
});

Deno.test("a genuine token that names its offices by anything but texts gets none", async () => {
  await using auth = await open.secret();
  await using server = await SmcpServer.listen({ port: 0, auth });
  for (const offices of [null, {}, [["lab"]], { includes: "lab" }, 5, true, { length: 1, 0: "lab" }]) {
    const token = await signWithSecret(SECRET, { a2c_offices: offices });
    const outcome = await RawPeer.connect(server.url, { auth: { token } }).then(() => "admitted", String);
    assert(outcome.includes("Unauthorized"), JSON.stringify(offices));
  }
});
