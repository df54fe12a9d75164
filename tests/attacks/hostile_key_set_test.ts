/** Attacker: the server of a set of keys (JWKS), or whoever answers in its place, and clients that make it be asked */
import { assert, assertEquals } from "@std/assert";
import { gzipSync } from "node:zlib";
import { JwtTokens } from "../../server.ts";
import { AUDIENCE, ISSUER, type KeySetAnswer, KeySetServer, SigningKey } from "../fixtures/issuer.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";

const key = await SigningKey.generate("ES256", "k1");
/** Made for each test, since it may begin long after this file was loaded. */
const newCredentials = async () => ({
  auth: { token: await key.sign() },
  headers: {},
  query: {},
  address: "127.0.0.1",
});

/** Asks for admission with a genuine token while the key set is answered in this way. */
async function decide(answer: KeySetAnswer) {
  await using server = new KeySetServer();
  server.answer(answer);
  const logger = new LogBook();
  const options = { jwksUrl: server.url, issuer: ISSUER, audience: AUDIENCE, logger };
  await using tokens = await JwtTokens.open(options);
  const credentials = await newCredentials();
  const outcome = await within(
    tokens.authenticate(credentials).then((decision) => JSON.stringify(decision), String),
    "the decision",
  );
  return { outcome, logger, requests: server.requests };
}

/** A body that never ends; it stops when nobody reads it. */
function endless(chunk: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}

const answers: Readonly<Record<string, KeySetAnswer>> = {
  "an endless body": () => new Response(endless(new Uint8Array(65_536).fill(0x20))),
  "a body that unpacks to 64 MiB": () =>
    new Response(gzipSync(new Uint8Array(64 * 1_048_576)), { headers: { "content-encoding": "gzip" } }),
  "more than a hundred keys": () => Response.json({ keys: Array.from({ length: 5_000 }, () => key.jwk) }),
  "deeply nested JSON": () => new Response("[".repeat(200_000)),
  "no JSON": () => new Response("<html>"),
  "a symmetric key": () => Response.json({ keys: [{ kty: "oct", k: "AAAA", kid: "k1", alg: "HS256" }] }),
  "a private key": () => Response.json({ keys: [{ ...key.jwk, d: "AAAA" }] }),
  "a key for encryption": () => Response.json({ keys: [{ ...key.jwk, use: "enc" }] }),
  "a key with broken numbers": () => Response.json({ keys: [{ ...key.jwk, x: "AAAA" }] }),
  "members of prototypes": () => new Response('{"__proto__":{"keys":[]},"keys":{"length":1}}'),
  "an error": () => new Response("no", { status: 500 }),
  "a redirect to the genuine keys": () => Response.redirect("http://127.0.0.1:1/keys", 302),
};

for (const [what, answer] of Object.entries(answers)) {
  Deno.test(`a key set server that answers with ${what} admits nobody`, async () => {
    const { outcome } = await decide(answer);
    assert(!outcome.includes("principal"), outcome);
  });
}

Deno.test("a redirect of the key set is not followed, also to genuine keys", async () => {
  await using genuine = new KeySetServer();
  genuine.publish(key);
  const { outcome } = await decide(() => Response.redirect(genuine.url, 307));
  assert(!outcome.includes("principal"), outcome);
  assertEquals(genuine.requests, 0);
});

Deno.test("clients that name unknown keys cause no further requests, and genuine ones are admitted", async () => {
  await using server = new KeySetServer();
  server.publish(key);
  await using tokens = await JwtTokens.open({ jwksUrl: server.url, issuer: ISSUER, audience: AUDIENCE });
  const stranger = await SigningKey.generate("ES256", "k1");
  const credentials = await newCredentials();
  for (let i = 0; i < 100; i++) {
    const token = await stranger.sign({}, { kid: `guess-${i}` });
    const decision = await tokens.authenticate({ ...credentials, auth: { token } });
    assertEquals("refused" in decision && decision.refused, "wrong token");
  }
  assertEquals(server.requests, 1);
  assert("principal" in await tokens.authenticate(credentials));
});

Deno.test("a key set server that is silent delays no other decision than those that need it", async () => {
  await using server = new KeySetServer();
  const silence = Promise.withResolvers<Response>();
  server.answer(() => silence.promise);
  await using tokens = await JwtTokens.open({ jwksUrl: server.url, issuer: ISSUER, audience: AUDIENCE });
  const gone = new AbortController();
  const credentials = await newCredentials();
  const waiting = tokens.authenticate(credentials, { signal: gone.signal }).then(() => "decided", String);
  assertEquals(await tokens.authenticate({ ...credentials, auth: {} }), { refused: "no token" });
  gone.abort(new DOMException("the client is gone", "AbortError"));
  assert((await within(waiting, "the end of the decision")).includes("the client is gone"));
  silence.resolve(new Response(null, { status: 503 }));
});
