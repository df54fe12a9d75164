import { assertEquals, assertRejects } from "@std/assert";
import { sendRequest, UNSUPPORTED_OPTIONS } from "../../../src/link/http_request_web.ts";

/** Serves one answer, and sends a request for it as a browser does. */
async function exchange(
  answer: (request: Request) => Response | Promise<Response>,
  more: { readonly body?: string; readonly signal?: AbortSignal } = {},
) {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  return await sendRequest(`http://127.0.0.1:${server.addr.port}/`, {
    body: more.body,
    headers: {},
    ca: undefined,
    maxBytes: 10,
    maxRefusalBytes: 4,
    signal: more.signal ?? new AbortController().signal,
  });
}

Deno.test("a browser reads an answer whole, up to the bound", async () => {
  assertEquals(await exchange(() => new Response("ä".repeat(5))), { status: 200, text: "ä".repeat(5) });
  await assertRejects(() => exchange(() => new Response("ä".repeat(6))), RangeError, "more than 10 bytes");
});

Deno.test("a browser reads the beginning of a long refusal", async () => {
  const { status, text } = await exchange(() => new Response("no".repeat(50_000), { status: 400 }));
  assertEquals([status, "nono".startsWith(text)], [400, true]);
  const short = await exchange(() => new Response("no", { status: 401 }));
  assertEquals(short, { status: 401, text: "no" });
});

Deno.test("a browser sends a body as plain text, which needs no preflight", async () => {
  let got: unknown;
  const echo = async (request: Request) => {
    got = [request.method, request.headers.get("content-type"), await request.text()];
    return new Response("ok");
  };
  assertEquals((await exchange(echo, { body: "40" })).text, "ok");
  assertEquals(got, ["POST", "text/plain;charset=UTF-8", "40"]);
});

Deno.test("a request of a browser ends with its signal, and the network's failure names the origin", async () => {
  await assertRejects(
    () => exchange(() => new Response("late"), { signal: AbortSignal.abort(new RangeError("gone")) }),
    RangeError,
    "gone",
  );
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const bounds = { maxBytes: 1, maxRefusalBytes: 1, signal: new AbortController().signal };
  const request = { body: undefined, headers: {}, ca: undefined, ...bounds };
  await assertRejects(() => sendRequest(`http://127.0.0.1:${port}/`, request), TypeError, "--allow-origin");
});

Deno.test("a browser can set neither headers nor certificate authorities", () => {
  assertEquals(Object.keys(UNSUPPORTED_OPTIONS), ["headers", "ca"]);
});
