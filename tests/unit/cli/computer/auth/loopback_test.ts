import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  buildPage,
  type Landing,
  type LandingPlace,
  openLandingPlace,
  type PageKind,
} from "../../../../../src/cli/computer/auth/loopback.ts";

/** Opens a place at a free port. */
function open(port = 0): LandingPlace {
  const place = openLandingPlace(port);
  assert(place !== undefined);
  return place;
}

/** A sign-in that takes addresses with its state, and the addresses that it got. */
function awaitState(place: LandingPlace, state: string, landing: Landing = "done"): string[] {
  const landed: string[] = [];
  place.await({
    server: `server-${state}`,
    land: (url) => {
      if (new URL(url).searchParams.get("state") !== state) return Promise.resolve("not awaited");
      landed.push(url);
      return Promise.resolve(landing);
    },
  });
  return landed;
}

async function visit(url: string, init?: RequestInit): Promise<{ status: number; text: string }> {
  const response = await fetch(url, init);
  return { status: response.status, text: await response.text() };
}

const portOf = ({ redirectUri }: LandingPlace) => Number(new URL(redirectUri).port);

Deno.test("a browser that comes back is passed on whole, and sees how the sign-in ended", async () => {
  await using place = open();
  const landed = awaitState(place, "s1");
  const { status, text } = await visit(`${place.redirectUri}?code=abc&state=s1&iss=https%3A%2F%2Fx`);
  assertEquals(status, 200);
  assertStringIncludes(text, "server-s1");
  assertEquals(landed, [`${place.redirectUri}?code=abc&state=s1&iss=https%3A%2F%2Fx`]);
});

Deno.test("a failed sign-in is told to the browser, without what the browser brought", async () => {
  await using place = open();
  awaitState(place, "s1", "failed");
  const { status, text } = await visit(
    `${place.redirectUri}?error=access_denied&error_description=%3Cscript%3Ebad&state=s1`,
  );
  assertEquals(status, 400);
  assertStringIncludes(text, "The sign-in failed");
  assertEquals(/denied|script>|bad/.test(text), false);
});

Deno.test("sign-ins that share a port are told apart, and the last one closes it", async () => {
  const first = open();
  const port = portOf(first);
  const second = open(port);
  const [landedFirst, landedSecond] = [awaitState(first, "s1"), awaitState(second, "s2")];
  assertEquals((await visit(`${first.redirectUri}?code=b&state=s2`)).status, 200);
  assertEquals([landedFirst.length, landedSecond.length], [0, 1]);
  await second[Symbol.asyncDispose]();
  assertEquals((await visit(`${first.redirectUri}?code=a&state=s1`)).status, 200);
  assertEquals(landedFirst.length, 1);
  await first[Symbol.asyncDispose]();
  assertEquals(await visit(first.redirectUri).then(() => "open", () => "closed"), "closed");
});

Deno.test("a request that no sign-in awaits ends none, and tells what to do", async () => {
  await using place = open();
  const landed = awaitState(place, "s1");
  const { status, text } = await visit(`${place.redirectUri}?code=a&state=other`);
  assertEquals(status, 400);
  assertStringIncludes(text, "paste it there");
  assertEquals(landed, []);
});

Deno.test("the segment of an authorization server is passed on with the answer, and other paths are not found", async () => {
  await using place = open();
  const landed = awaitState(place, "s1");
  assertEquals((await visit(`${place.redirectUri}/0123abcd?code=a&state=s1`)).status, 200);
  assertEquals(landed, [`${place.redirectUri}/0123abcd?code=a&state=s1`]);
  assertEquals((await visit(`${place.redirectUri}s?code=a&state=s1`)).status, 404);
});

Deno.test("other paths, methods and hosts are not found", async () => {
  await using place = open();
  const landed = awaitState(place, "s1");
  const { origin, host } = new URL(place.redirectUri);
  assertEquals((await visit(`${origin}/?code=a&state=s1`)).status, 404);
  assertEquals((await visit(`${place.redirectUri}?code=a&state=s1`, { method: "POST" })).status, 404);
  assertEquals(await statusWithHost(host, "evil.example"), 404);
  assertEquals(landed, []);
  assertEquals(await statusWithHost(host, host), 200);
});

/** The status of a redirect that names another host, as a web page can make a browser do it. */
async function statusWithHost(address: string, host: string): Promise<number> {
  const { hostname, port } = new URL(`http://${address}`);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const request = `GET /callback?code=a&state=s1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const bytes = new Uint8Array(64);
  const count = await connection.read(bytes) ?? 0;
  return Number(new TextDecoder().decode(bytes.subarray(0, count)).split(" ")[1]);
}

Deno.test("a port of another process is not used", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  assertEquals(openLandingPlace(taken.addr.port), undefined);
  await Promise.resolve();
});

Deno.test("a connection that sends nothing does not delay the end of a sign-in", async () => {
  const place = open();
  using idle = await Deno.connect({ hostname: "127.0.0.1", port: portOf(place) });
  await idle.write(new TextEncoder().encode("GET /call"));
  await place[Symbol.asyncDispose]();
});

Deno.test("the page says in plain words how the sign-in ended", async () => {
  const told: readonly (readonly [kind: PageKind, status: number, words: string])[] = [
    ["done", 200, "You are signed in"],
    ["failed", 400, "The sign-in failed"],
    ["not awaited", 400, "copy the whole address of this page and paste it there"],
    ["not found", 404, "There is no page here"],
  ];
  for (const [kind, status, words] of told) {
    const page = buildPage(kind, "files");
    assertEquals(page.status, status);
    assertStringIncludes(await page.text(), words);
  }
});

Deno.test("the name of a server cannot become a part of the page, and the page loads nothing", async () => {
  const page = buildPage("done", `<script>alert("1")</script>&\u202e`);
  const text = await page.text();
  assertEquals(text.includes("<script>"), false);
  assertEquals(text.includes("\u202e"), false);
  assertStringIncludes(text, "&#60;script&#62;");
  assertStringIncludes(page.headers.get("content-security-policy") ?? "", "default-src 'none'");
  assertEquals(page.headers.get("referrer-policy"), "no-referrer");
  assertEquals(page.headers.get("cache-control"), "no-store");
});
