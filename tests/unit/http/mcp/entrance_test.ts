import { assertEquals } from "@std/assert";
import { once } from "node:events";
import { connect } from "node:http2";
import { Entrance, type EntranceOptions } from "../../../../src/http/mcp/entrance.ts";
import { exchange } from "../../../attacks/_raw_http.ts";
import { LogBook } from "../../../fixtures/log_book.ts";

/** Its path serves nothing. */
function openEntrance(options: EntranceOptions = {}): Entrance {
  const find = (path: string) => path === "/mcp" ? { path, open: () => new Response() } : undefined;
  const routes = { names: "/mcp", find, close: () => Promise.resolve() };
  return new Entrance(routes, { allowedOrigins: ["https://app.example"], ...options });
}

Deno.test("a page of another site is refused also where its browser sends no Origin", async () => {
  await using entrance = openEntrance();
  const statusOf = async (headers: Record<string, string>) => {
    const response = await entrance.fetch(new Request("http://localhost:4000/healthz", { headers }));
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await statusOf({ "sec-fetch-site": "cross-site" }), 403);
  assertEquals(await statusOf({ "sec-fetch-site": "cross-site", origin: "https://app.example" }), 200);
  // An address that somebody has typed.
  assertEquals(await statusOf({ "sec-fetch-site": "none" }), 200);
});

Deno.test("the host of HTTP/2, which is in no header, is checked as the Host is", async () => {
  await using entrance = openEntrance();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, entrance.fetch);
  const client = connect(`http://127.0.0.1:${server.addr.port}`);
  const statusOf = async (authority: string) => {
    const request = client.request({ ":authority": authority, ":path": "/healthz" });
    const [headers] = await once(request, "response");
    request.close();
    return headers[":status"];
  };
  assertEquals(await statusOf("localhost:4000"), 200);
  assertEquals(await statusOf("evil.example"), 403);
  client.destroy();
});

Deno.test("heads that no browser sends are refused without an error: methods, and hosts that are none", async () => {
  const logger = new LogBook();
  await using entrance = openEntrance({ logger });
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, entrance.fetch);
  const { port } = server.addr;
  for (const method of ["TRACE", "TRACK", "PUT"]) {
    const { status, head } = await exchange(port, { method, target: "/mcp" });
    assertEquals([status, /^allow: (.*)\r?$/im.exec(head)?.[1]], [405, "GET, POST, DELETE"], method);
  }
  for (const host of ["", "a b", "evil.example/@x.localhost", "evil.example/x.localhost", "user@localhost"]) {
    assertEquals((await exchange(port, { target: "/healthz", headers: { Host: host } })).status, 403, host);
  }
  const absolute = "http://evil.example/healthz";
  assertEquals((await exchange(port, { target: absolute, headers: { Host: "localhost" } })).status, 403);
  assertEquals(logger.lines, []);
});
