import { assert, assertEquals, assertRejects } from "@std/assert";
import { exportSPKI, importJWK } from "jose";
import { JwtTokens, SmcpServer } from "../../server.ts";
import { Agent, AuthenticationError } from "../../agent.ts";
import { AUDIENCE, ISSUER, KeySetServer, SigningKey, signWithSecret } from "../fixtures/issuer.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { RawPeer } from "./_socket.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const nothing = { auth: {}, headers: {}, query: {}, address: "127.0.0.1" };

/** The principal of a token, or why it was refused. */
async function decide(tokens: JwtTokens, token: string): Promise<string> {
  const decision = await tokens.authenticate({ ...nothing, auth: { token } });
  return "refused" in decision ? `refused: ${decision.refused}` : decision.principal;
}

Deno.test("a JWT of a shared secret admits its subject to its offices", async () => {
  await using tokens = await JwtTokens.open({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE });
  await using server = await SmcpServer.listen({ port: 0, auth: tokens });
  const token = await signWithSecret(SECRET);
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", token });
  assertEquals((await agent.listOffice()).length, 1);
  await assertRejects(
    () => Agent.connect({ url: server.url, office: "den", name: "ada", token }),
    Error,
    "allow",
  );
  const forged = await signWithSecret("f".repeat(32));
  const options = { url: server.url, office: "lab", name: "bob", token: forged };
  await assertRejects(() => Agent.connect(options), AuthenticationError, "wrong token");
});

Deno.test("a JWT is read from the headers, too", async () => {
  await using tokens = await JwtTokens.open({ secret: SECRET, issuer: ISSUER });
  const token = await signWithSecret(SECRET);
  const decision = await tokens.authenticate({ ...nothing, headers: { authorization: `Bearer ${token}` } });
  assertEquals("principal" in decision && decision.principal, "ada");
});

for (const alg of ["RS256", "PS256", "ES256", "ES384", "EdDSA"]) {
  Deno.test(`a JWT of a public key admits: ${alg}, as PEM and as JWK`, async () => {
    const key = await SigningKey.generate(alg);
    const imported = await importJWK(key.jwk, alg, { extractable: true });
    assert(imported instanceof CryptoKey);
    for (const publicKey of [await exportSPKI(imported), JSON.stringify(key.jwk)]) {
      await using tokens = await JwtTokens.open({ publicKey, issuer: ISSUER, audience: AUDIENCE });
      assertEquals(await decide(tokens, await key.sign()), "ada");
      const other = await SigningKey.generate(alg, key.kid);
      assertEquals(await decide(tokens, await other.sign()), "refused: wrong token");
    }
  });
}

Deno.test("the reason of a refusal says what is wrong with a token that is otherwise genuine", async () => {
  const now = Math.floor(Date.now() / 1_000);
  await using tokens = await JwtTokens.open({
    secret: SECRET,
    issuer: ISSUER,
    audience: [AUDIENCE, "other"],
  });
  const reasons: readonly [Record<string, unknown>, string][] = [
    [{}, "ada"],
    [{ aud: ["x", "other"] }, "ada"],
    [{ exp: now - 10 }, "ada"],
    [{ exp: now - 60 }, "refused: token expired"],
    [{ nbf: now + 10 }, "ada"],
    [{ nbf: now + 600 }, "refused: token not valid yet"],
    [{ iss: "https://other.example" }, 'refused: the token has another or no claim "iss"'],
    [{ aud: "someone" }, 'refused: the token has another or no claim "aud"'],
    [{ aud: undefined }, 'refused: the token has another or no claim "aud"'],
    [{ exp: undefined }, 'refused: the token has another or no claim "exp"'],
    [{ exp: String(now + 60) }, 'refused: the token has another or no claim "exp"'],
    [{ sub: undefined }, 'refused: the token has no usable claim "sub"'],
  ];
  for (const [claims, expected] of reasons) {
    assertEquals(
      await decide(tokens, await signWithSecret(SECRET, claims)),
      expected,
      JSON.stringify(claims),
    );
  }
});

Deno.test("the subjects of several issuers are told apart", async () => {
  const other = "https://other.example";
  await using tokens = await JwtTokens.open({ secret: SECRET, issuer: [ISSUER, other] });
  assertEquals(await decide(tokens, await signWithSecret(SECRET)), `${ISSUER}#ada`);
  assertEquals(await decide(tokens, await signWithSecret(SECRET, { iss: other })), `${other}#ada`);
});

Deno.test("a live session ends when its JWT expires, and the client hears it", async () => {
  await using tokens = await JwtTokens.open({ secret: SECRET, issuer: ISSUER, clockToleranceMs: 0 });
  await using server = await SmcpServer.listen({ port: 0, auth: tokens });
  const token = await signWithSecret(SECRET, { exp: Math.floor(Date.now() / 1_000) + 4 });
  await using peer = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" }, {
    auth: { token },
  });
  assertEquals(await peer.next("notify:connection_closing"), {
    code: "credentials_expired",
    message: "The credentials have expired",
    reconnect: false,
  });
  await within(peer.disconnected, "the end of the connection");
});

Deno.test("the secret is read again when its file changes", async () => {
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, `${SECRET}\n`);
  const logger = new LogBook();
  await using tokens = await JwtTokens.open({ secretFile: path, issuer: ISSUER, logger });
  const newSecret = "f".repeat(32);
  const decisions = async () => [
    await decide(tokens, await signWithSecret(SECRET)),
    await decide(tokens, await signWithSecret(newSecret)),
  ];
  assertEquals(await decisions(), ["ada", "refused: wrong token"]);
  const changes = [[`${SECRET}\n${newSecret}\n`, ["ada", "ada"]], [newSecret, [
    "refused: wrong token",
    "ada",
  ]]];
  for (const [text, expected] of changes) {
    const read = logger.next(({ message }) => message.startsWith("read the changed"));
    await Deno.writeTextFile(path, String(text));
    await read;
    assertEquals(await decisions(), expected);
  }
  await Deno.remove(path);
});

Deno.test("the keys of a URL are fetched once, and again when a token names a new one", async () => {
  const [old, next] = [await SigningKey.generate("RS256"), await SigningKey.generate("ES256")];
  await using keys = new KeySetServer();
  keys.publish(old);
  await using tokens = await JwtTokens.open({ jwksUrl: keys.url, issuer: ISSUER, audience: AUDIENCE });
  const decisions = await Promise.all(
    Array.from({ length: 20 }, async () => decide(tokens, await old.sign())),
  );
  assertEquals([new Set(decisions), keys.requests], [new Set(["ada"]), 1]);
  keys.publish(old, next);
  // A new request is due only some time after the last one.
  assertEquals(await decide(tokens, await next.sign()), "refused: wrong token");
  assertEquals(keys.requests, 1);
});

Deno.test("options of JWT that contradict each other, or are unsafe, are refused", async () => {
  const { jwk } = await SigningKey.generate();
  const publicKey = JSON.stringify(jwk);
  const jwksUrl = "https://issuer.example/keys";
  const bad: readonly Parameters<typeof JwtTokens.open>[0][] = [
    {},
    { secret: SECRET, publicKey },
    { secret: SECRET, algorithms: ["RS256"] },
    { secret: SECRET, algorithms: [] },
    { publicKey, algorithms: ["HS256"] },
    { publicKey, algorithms: ["none"] },
    { jwksUrl },
    { jwksUrl, issuer: ISSUER },
    { jwksUrl, audience: AUDIENCE },
    { jwksUrl: "http://issuer.example/keys", issuer: ISSUER, audience: AUDIENCE },
    { jwksUrl: "file:///etc/keys", issuer: ISSUER, audience: AUDIENCE },
    { jwksUrl: "nonsense", issuer: ISSUER, audience: AUDIENCE },
  ];
  for (const options of bad) {
    await assertRejects(() => JwtTokens.open(options), TypeError, "Cannot use", JSON.stringify(options));
  }
  await assertRejects(() => JwtTokens.open({ secret: "short" }), Error, "32 bytes");
  await assertRejects(() => JwtTokens.open({ publicKey: SECRET }), Error, "set of keys");
});
