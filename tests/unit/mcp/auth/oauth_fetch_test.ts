import { assertEquals, assertRejects } from "@std/assert";
import { createOAuthFetch } from "../../../../src/mcp/auth/oauth_fetch.ts";
import { ForbiddenAddressError } from "../../../../src/reach/reach.ts";
import { ServerNotRunningError } from "../../../../src/mcp/errors.ts";

/** A server on the loopback interface, and its address. */
async function withServer(
  answer: (request: Request) => Response,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
  try {
    await use(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

Deno.test("a server on the internet cannot send the Computer into its own networks", async () => {
  const fetch = createOAuthFetch({ resource: new URL("https://8.8.8.8/mcp"), issuer: undefined });
  for (
    const url of [
      "http://127.0.0.1:1/",
      "https://127.0.0.1:1/",
      "https://localhost:1/",
      "https://169.254.169.254/latest",
      "https://10.0.0.1/",
      "https://[::1]:1/",
      "http://8.8.8.8/",
      "ftp://8.8.8.8/",
    ]
  ) {
    await assertRejects(() => fetch(url, {}), ForbiddenAddressError, undefined, url);
  }
});

Deno.test("a configured issuer may be on the own machine", async () => {
  await withServer(() => Response.json({}), async (origin) => {
    const fetch = createOAuthFetch({ resource: new URL("https://8.8.8.8/mcp"), issuer: origin });
    assertEquals(await (await fetch(`${origin}/x`, {})).json(), {});
  });
});

Deno.test("a redirect is followed for metadata only, three times at most, and to no forbidden address", async () => {
  const answer = ({ url }: Request) => {
    const { pathname, searchParams } = new URL(url);
    const left = Number(searchParams.get("left"));
    if (pathname === "/out") return Response.redirect("https://10.0.0.1/");
    return left === 0
      ? new Response("here")
      : new Response(null, { status: 302, headers: { location: `/?left=${left - 1}` } });
  };
  await withServer(answer, async (origin) => {
    const fetch = createOAuthFetch({ resource: new URL("https://8.8.8.8/mcp"), issuer: origin });
    assertEquals(await (await fetch(`${origin}/?left=3`, {})).text(), "here");
    await assertRejects(() => fetch(`${origin}/?left=4`, {}), ForbiddenAddressError, "redirects");
    await assertRejects(() => fetch(`${origin}/out`, {}), ForbiddenAddressError, "private network");
    assertEquals((await fetch(`${origin}/?left=1`, { method: "POST" })).status, 302);
  });
});

Deno.test("an answer that is too large, and a server that is not there, are failures that may pass", async () => {
  await withServer(() => new Response(new Uint8Array(300_000)), async (origin) => {
    const fetch = createOAuthFetch({ resource: new URL(origin), issuer: undefined });
    await assertRejects(() => fetch(origin, {}), ServerNotRunningError, "too large");
  });
  const gone = createOAuthFetch({ resource: new URL("http://127.0.0.1:1/"), issuer: undefined });
  await assertRejects(() => gone("http://127.0.0.1:1/", {}), ServerNotRunningError, "not reachable");
});

Deno.test("an event stream, which may never end, is not read", async () => {
  const endless = () =>
    new Response(
      new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(": hello\n\n")) }),
      {
        headers: { "content-type": "text/event-stream" },
      },
    );
  await withServer(endless, async (origin) => {
    const fetch = createOAuthFetch({ resource: new URL(origin), issuer: undefined });
    assertEquals(await (await fetch(origin, {})).text(), "");
  });
});

Deno.test("an answer reads as the standards write it: null is missing, tokens without a type are bearer tokens, an error is no success", async () => {
  const rows: readonly (readonly [sent: unknown, status: number, read: unknown])[] = [
    [{ scope: null, id_token: null, a: 1 }, 200, { a: 1 }],
    [{ a: { b: null, c: [1] } }, 200, { a: { c: [1] } }],
    [{ access_token: "t" }, 200, { access_token: "t", token_type: "Bearer" }],
    [{ access_token: "t", token_type: null }, 200, { access_token: "t", token_type: "Bearer" }],
    [{ access_token: "t", token_type: "" }, 200, { access_token: "t", token_type: "Bearer" }],
    [{ access_token: "t", token_type: "DPoP" }, 200, { access_token: "t", token_type: "DPoP" }],
    [{ access_token: "t", token_type: "mac", error: null }, 200, { access_token: "t", token_type: "mac" }],
    [{ error: "invalid_grant" }, 400, { error: "invalid_grant" }],
    [{ ok: false, error: "bad_code" }, 400, { ok: false, error: "bad_code" }],
    [{ error: "", a: 1 }, 200, { error: "", a: 1 }],
    [[null], 200, [null]],
    ["text", 200, "text"],
  ];
  let sent: unknown;
  await withServer(() => Response.json(sent), async (origin) => {
    const fetch = createOAuthFetch({ resource: new URL(origin), issuer: undefined });
    for (const [body, status, read] of rows) {
      sent = body;
      const response = await fetch(origin, { method: "POST" });
      assertEquals([response.status, await response.json()], [status, read]);
    }
  });
});
