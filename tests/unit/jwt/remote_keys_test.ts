import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { RemoteKeys } from "../../../src/jwt/remote_keys.ts";
import { silentLogger } from "../../../src/log.ts";
import { KeySetServer, SigningKey } from "../../fixtures/issuer.ts";
import { LogBook } from "../../fixtures/log_book.ts";
import { eventually } from "../../fixtures/within.ts";

const httpFlag = "--jwt-allow-http";
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
    this.keys = new RemoteKeys({ url: this.server.url }, {
      logger: this.log,
      httpFlag,
      nowMs: () => this.#nowMs,
    });
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
    assertThrows(
      () => new RemoteKeys({ url }, { logger: silentLogger, httpFlag }),
      TypeError,
      "https is required",
      url,
    );
  }
  for (const url of ["https://issuer.example/", "http://localhost:8080/keys", "http://[::1]/"]) {
    new RemoteKeys({ url }, { logger: silentLogger, httpFlag });
  }
  new RemoteKeys({ url: "http://keycloak:8080/keys" }, { logger: silentLogger, allowHttp: true, httpFlag });
});

/** The keys of an issuer whose metadata is at this place and says this. */
async function discover(place: string, metadata: (origin: string) => Record<string, unknown>, path = "") {
  await using server = new KeySetServer();
  const { origin } = new URL(server.url);
  server.answer(({ url }) => {
    const { pathname } = new URL(url);
    if (pathname === "/keys") return Response.json({ keys: [old.jwk] });
    if (pathname === place) return Response.json(metadata(origin));
    return new Response("no", { status: 404 });
  });
  const source = { issuer: `${origin}${path}` };
  const keys = new RemoteKeys(source, { logger: silentLogger, httpFlag });
  try {
    return (await keys.find({ alg: "ES256", kid: "old" })).length;
  } catch (error) {
    return String(error);
  } finally {
    await keys.close();
  }
}

Deno.test("the keys of an issuer are where its metadata says, as an authorization server or a provider", async () => {
  for (const path of ["", "/tenant"]) {
    const honest = (origin: string) => ({ issuer: `${origin}${path}`, jwks_uri: `${origin}/keys` });
    assertEquals(await discover(`/.well-known/oauth-authorization-server${path}`, honest, path), 1);
    assertEquals(await discover(`/.well-known/openid-configuration${path}`, honest, path), 1);
    assertEquals(await discover(`${path}/.well-known/openid-configuration`, honest, path), 1);
  }
});

Deno.test("metadata of another issuer, or with keys elsewhere than at https, gives no keys", async () => {
  const place = "/.well-known/oauth-authorization-server";
  const refuse = async (metadata: (origin: string) => Record<string, unknown>, word: RegExp) =>
    assertMatch(String(await discover(place, metadata)), word);
  await refuse((origin) => ({ issuer: "https://other.example", jwks_uri: `${origin}/keys` }), /another one/);
  await refuse((origin) => ({ jwks_uri: `${origin}/keys` }), /another one/);
  await refuse((issuer) => ({ issuer, jwks_uri: "http://issuer.example/keys" }), /no key set at https/);
  await refuse((issuer) => ({ issuer, jwks_uri: "file:///etc/passwd" }), /no key set at https/);
  await refuse((issuer) => ({ issuer }), /no key set at https/);
  assertMatch(String(await discover("/elsewhere", (issuer) => ({ issuer }))), /HTTP status 404/);
});
