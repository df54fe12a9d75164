import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { exportSPKI, importJWK } from "jose";
import { anyOf, type AuthProvider, JwtTokens, SmcpServer, staticTokens } from "../../server.ts";
import { Agent, AuthenticationError } from "../../agent.ts";
import { AUDIENCE, ISSUER, KeySetServer, SigningKey, signWithSecret } from "../fixtures/issuer.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { eventually, within } from "../fixtures/within.ts";
import { makeCertificate } from "./_tls_server.ts";
import { RemoteKeys } from "../../src/jwt/remote_keys.ts";
import { RawPeer } from "./_socket.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

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
    [{ iss: "https://other.example" }, 'refused: the claim "iss" of the token is not the expected one'],
    [{ aud: "someone" }, 'refused: the claim "aud" of the token is not the expected one'],
    [{ aud: undefined }, 'refused: the token has no claim "aud"'],
    [{ exp: undefined }, 'refused: the token has no claim "exp"'],
    [{ exp: String(now + 60) }, 'refused: the claim "exp" of the token is malformed'],
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

Deno.test("the log of the Server has what was expected of a genuine token, and its subject; the client has not", async () => {
  const logger = new LogBook();
  await using tokens = await JwtTokens.open({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE });
  await using server = await SmcpServer.listen({ port: 0, auth: tokens, logger });
  const refused = async (secret: string, claims: Record<string, unknown>) => {
    const auth = { token: await signWithSecret(secret, claims) };
    const line = logger.next(({ message }) => message === "refused a connection");
    const error = await assertRejects(() => RawPeer.connect(server.url, { auth }), Error);
    const { sub, expected, found } = (await line).fields;
    return [error.message.includes(AUDIENCE), sub, expected, found];
  };
  assertEquals(await refused(SECRET, { aud: "someone" }), [false, "ada", AUDIENCE, "someone"]);
  assertEquals(await refused("f".repeat(32), { aud: "someone" }), [false, undefined, undefined, undefined]);
  const wrong = logger.lines.find(({ fields }) => fields["reason"] === "wrong token");
  assertEquals(wrong?.fields["detail"], "the signature does not fit; tried 1 secret");
});

Deno.test("the log of the Server says why a token is wrong, and shows claims that one can read", async () => {
  const key = await SigningKey.generate("RS256");
  await using shared = await JwtTokens.open({ secret: SECRET, issuer: ISSUER });
  await using published = await JwtTokens.open({ publicKey: JSON.stringify(key.jwk), issuer: ISSUER });
  const forged = await signWithSecret("f".repeat(32));
  const cases: readonly [JwtTokens, string, Record<string, unknown>][] = [
    [shared, forged, { detail: "the signature does not fit; tried 1 secret" }],
    [shared, "guess", { detail: "the token is no JWT" }],
    [shared, await key.sign(), {
      detail: "there is no secret for the algorithm RS256 and the key id of the token",
    }],
    [shared, `${btoa('{"alg":{"toString":1}}').replaceAll("=", "")}.e30.AA`, {
      detail: 'there is no secret for the algorithm {"toString":1} and the key id of the token',
    }],
    [published, await (await SigningKey.generate("RS256", key.kid)).sign(), {
      detail: "the signature does not fit; tried 1 key",
    }],
    [published, await (await SigningKey.generate("RS256", "old")).sign(), {
      detail: "there is no key for the algorithm RS256 and the key id of the token",
    }],
    [shared, await signWithSecret(SECRET, { a2c_offices: ["lab", 5] }), { sub: "ada", found: '["lab",5]' }],
  ];
  for (const [tokens, token, log] of cases) {
    const decision = await tokens.authenticate({ ...nothing, auth: { token } });
    assertEquals("refused" in decision ? decision.log : decision, log);
  }
});

Deno.test("the log of the Server has the time of a token beside its own clock", async () => {
  await using tokens = await JwtTokens.open({ secret: SECRET, issuer: ISSUER });
  const [past, future] = [-3_600, 3_600].map((off) => Math.floor(Date.now() / 1_000) + off);
  const logOf = async (claims: Record<string, unknown>) => {
    const token = await signWithSecret(SECRET, claims);
    const decision = await tokens.authenticate({ ...nothing, auth: { token } });
    return "refused" in decision ? decision.log : undefined;
  };
  for (const [word, claims] of [["after", { exp: past }], ["before", { nbf: future }]] as const) {
    const limit = new Date(Number(Object.values(claims)[0]) * 1_000).toISOString();
    const detail = String((await logOf(claims))?.["detail"]);
    assertStringIncludes(detail, `not valid ${word} ${limit}; the clock of this machine says 20`);
  }
  assertEquals((await logOf({ nbf: 1e300 }))?.["found"], "1e+300");
});

Deno.test("/readyz is 503, with the reason, until a key set was fetched", async () => {
  await using keySet = new KeySetServer();
  const options = { jwksUrl: `${keySet.url}?secret=1`, issuer: ISSUER, audience: AUDIENCE };
  await using tokens = await JwtTokens.open(options);
  const [failing, fine] = [anyOf([tokens]), anyOf([staticTokens({ tokens: ["s3cret"] })])];
  let auth = failing;
  const provider: AuthProvider = {
    authenticate: (credentials) => auth.authenticate(credentials),
    unready: () => auth.unready?.(),
  };
  await using server = await SmcpServer.listen({ port: 0, auth: provider });
  const ready = async () => {
    const answer = await fetch(`${server.url}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };
  const failure = await eventually(ready, (text) => !text.includes("being fetched"), "the first failure");
  assertEquals(failure, "503 A2C-SMCP Server: no key set for JWT: HTTP status 503\n");
  auth = fine;
  assertEquals(await ready(), "200 A2C-SMCP Server: ok\n");
});

Deno.test("the log says why the key set cannot be fetched, without the query of the URL", async () => {
  using folder = new TempFolder();
  const { certFile, keyFile } = await makeCertificate(folder.path, { host: "127.0.0.1" });
  const [cert, key] = [await Deno.readTextFile(certFile), await Deno.readTextFile(keyFile)];
  await using plain = new KeySetServer();
  await using tls = Deno.serve(
    { cert, key, port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("{}"),
  );
  const closed = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = closed.addr;
  closed.close();
  const failures: readonly (readonly [url: string, words: string])[] = [
    [`http://127.0.0.1:${port}/keys?key=s3cret`, "Connection refused"],
    [`https://127.0.0.1:${tls.addr.port}/keys?key=s3cret`, "certificate"],
    [`${plain.url.replace("http:", "https:")}?key=s3cret`, "corrupt message"],
    [`${plain.url}?key=s3cret`, "HTTP status 503"],
  ];
  for (const [url, words] of failures) {
    const log = new LogBook();
    const keys = new RemoteKeys({ url }, { logger: log, httpFlag: "--jwt-allow-http" });
    const error = await assertRejects(() => keys.find({ alg: "ES256" }), Error);
    const [line] = log.of("error");
    assertStringIncludes(String(line?.fields["error"]), words);
    // Anybody may read it.
    const isOwnText = words.startsWith("HTTP");
    assertEquals(keys.unready(), `no key set for JWT: ${isOwnText ? words : "it cannot be fetched"}`);
    assertEquals([error.message, line?.fields["url"], keys.unready()].join().includes("s3cret"), false);
    await keys.close();
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
