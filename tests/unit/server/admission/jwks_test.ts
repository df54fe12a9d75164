import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { silentLogger } from "../../../../src/log.ts";
import { RemoteKeys } from "../../../../src/server/admission/jwt_keys.ts";
import { KeySetServer, SigningKey } from "../../../fixtures/issuer.ts";
import { LogBook } from "../../../fixtures/log_book.ts";
import { eventually } from "../../../fixtures/within.ts";

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
