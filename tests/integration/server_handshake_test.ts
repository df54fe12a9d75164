import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { connect as connectTcp } from "node:net";
import { createServer } from "node:http";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "./_socket.ts";

interface HttpAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly type: string | null;
  readonly body: unknown;
}

/** A handshake over polling, as any HTTP client would do it. */
async function poll(url: string, query: string, headers: HeadersInit = {}): Promise<HttpAnswer> {
  const answer = await fetch(`${url}/socket.io/?EIO=4&transport=polling${query}`, { headers });
  const text = await answer.text();
  return {
    status: answer.status,
    code: answer.headers.get("X-A2C-Error-Code"),
    type: answer.headers.get("content-type"),
    body: text.startsWith("{") ? JSON.parse(text) : text,
  };
}

/** A handshake that is a websocket from the first byte, down to the bytes of the answer. */
async function upgrade(port: number, target: string): Promise<string> {
  const socket = connectTcp(port, "127.0.0.1");
  socket.write([
    `GET ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==",
    "\r\n",
  ].join("\r\n"));
  let answer = "";
  for await (const chunk of socket) answer += chunk;
  return answer;
}

const mismatch = (version: string) => ({
  code: 4008,
  message: "Protocol version mismatch",
  server_version: "0.2.0",
  client_version: version,
  min_supported: "0.2.0",
  max_supported: "0.2.999",
});

Deno.test("A polling handshake is refused exactly as the protocol says", async () => {
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.2"] });
  assertEquals(await poll(server.url, ""), {
    status: 400,
    code: null,
    type: "application/json",
    body: { code: 400, message: "Missing a2c_version query parameter" },
  });
  const malformed = await poll(server.url, "&a2c_version=0.2");
  assertEquals(malformed, {
    status: 400,
    code: null,
    type: "application/json",
    body: { code: 400, message: 'Invalid a2c_version: "0.2" is not MAJOR.MINOR.PATCH' },
  });
  assertEquals(await poll(server.url, "&a2c_version=0.1.5"), {
    status: 400,
    code: "4008",
    type: "application/json",
    body: mismatch("0.1.5"),
  });
});

Deno.test("A websocket handshake is refused with the same HTTP answer", async () => {
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.2"] });
  const answer = await upgrade(server.port, "/socket.io/?EIO=4&transport=websocket&a2c_version=0.3.0");
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [status, ...headers] = head.split("\r\n");
  assertEquals(status, "HTTP/1.1 400 Bad Request");
  assert(headers.includes("X-A2C-Error-Code: 4008"));
  assert(headers.includes("content-type: application/json"));
  assert(headers.includes(`content-length: ${body.length}`));
  assertEquals(JSON.parse(body), mismatch("0.3.0"));
  const missing = await upgrade(server.port, "/socket.io/?EIO=4&transport=websocket");
  assert(missing.endsWith('{"code":400,"message":"Missing a2c_version query parameter"}'));
});

Deno.test("A handshake cannot pass for a later request of a connection", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  assertEquals((await poll(server.url, "&sid=x&sid=")).status, 400);
  assertEquals((await poll(server.url, "&sid=")).body, {
    code: 400,
    message: "Missing a2c_version query parameter",
  });
  // Socket.IO's own answer to a connection that it does not know.
  assertEquals((await poll(server.url, "&sid=unknown")).body, { code: 1, message: "Session ID unknown" });
});

Deno.test("The accepted versions are an option, and PATCH never matters", async () => {
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.10", "0.3"] });
  for (const version of ["0.3.0", "0.3.77", "0.10.1"]) {
    await using _peer = await RawPeer.connect(server.url, { version });
  }
  const { body } = await poll(server.url, "&a2c_version=0.2.0");
  const { min_supported, max_supported } = body as Record<string, unknown>;
  assertEquals([min_supported, max_supported], ["0.3.0", "0.10.999"]);
});

Deno.test("A mismatch names the newest version that is accepted, with the patch of its specification", async () => {
  const newest: readonly (readonly [string[], string])[] = [
    [["0.2"], "0.2.0"],
    [["0.3", "0.2"], "0.3.1"],
    [["0.4"], "0.4.0"],
    [["0.9", "0.10"], "0.10.0"],
  ];
  for (const [acceptedVersions, server_version] of newest) {
    await using server = await SmcpServer.listen({ port: 0, acceptedVersions });
    const { body } = await poll(server.url, "&a2c_version=9.9.9");
    assertEquals((body as Record<string, unknown>)["server_version"], server_version);
  }
});

Deno.test("0.2, 0.3 and 0.4 are accepted by default, peers without a version when that is allowed", async () => {
  await using strict = await SmcpServer.listen({ port: 0 });
  for (const version of ["0.2.0", "0.3.1", "0.4.2"]) {
    await using _peer = await RawPeer.connect(strict.url, { version });
  }
  await assertRejects(() => RawPeer.connect(strict.url, { version: null }));
  await using lenient = await SmcpServer.listen({ port: 0, allowUnversioned: true });
  await using _old = await RawPeer.connect(lenient.url, { version: null });
  await assertRejects(() => RawPeer.connect(lenient.url, { version: "0.1.0" }));
});

Deno.test({
  name: "A peer that starts with polling is served, upgraded or not",
  fn: async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    for (const transports of [["polling"], ["polling", "websocket"]] as const) {
      const office_id = transports.join();
      await using agent = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id }, {
        transports,
      });
      await using computer = await RawPeer.join(server.url, { role: "computer", name: "c", office_id }, {
        transports,
      });
      computer.serve("client:echo", (body) => [body]);
      const body = { agent: "ada", req_id: "1", computer: "c", text: "x".repeat(5_000) };
      assertEquals(await agent.request("client:echo", body), [body]);
    }
  },
});

Deno.test("Another Socket.IO path can be set", async () => {
  await using server = await SmcpServer.listen({ port: 0, path: "/hub" });
  await using _peer = await RawPeer.connect(server.url, { path: "/hub/" });
  assertEquals((await poll(server.url, "&a2c_version=0.2.0")).status, 404);
});

Deno.test("Outside of Socket.IO's path there is a health check, and else nothing", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  for (const path of ["/", "/healthz", "/healthz?probe=1"]) {
    const answer = await fetch(server.url + path);
    assertEquals([answer.status, await answer.text()], [200, "A2C-SMCP Server: ok\n"]);
  }
  const answer = await fetch(`${server.url}/nope`);
  assertEquals([answer.status, await answer.text()], [404, "Not found\n"]);
  assert((await upgrade(server.port, "/nope")).startsWith("HTTP/1.1 404 Not Found\r\n"));
});

Deno.test("Web pages from elsewhere are kept out unless their origin is allowed", async () => {
  const version = "&a2c_version=0.2.0";
  const from = (origin: string) => ({ origin });
  await using local = await SmcpServer.listen({ port: 0 });
  const refused = await poll(local.url, version, from("https://evil.example"));
  const message = "Origin not allowed: allow it with --allow-origin";
  assertEquals([refused.status, refused.body], [403, { code: 403, message }]);
  assertEquals((await poll(local.url, version, from("http://localhost:5173"))).status, 200);
  await using open = await SmcpServer.listen({ port: 0, allowedOrigins: ["https://app.example"] });
  assertEquals((await poll(open.url, version, from("https://app.example"))).status, 200);
  assertEquals((await poll(open.url, version, from("https://evil.example"))).status, 403);
});

Deno.test("a page of an allowed origin can read a refusal, and no other page can", async () => {
  await using server = await SmcpServer.listen({ port: 0, allowedOrigins: ["https://app.example"] });
  const readableBy = async (origin: string | undefined, query: string) => {
    const headers: HeadersInit = origin === undefined ? {} : { origin };
    const answer = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling${query}`, { headers });
    await answer.body?.cancel();
    return [answer.status, answer.headers.get("access-control-allow-origin"), answer.headers.get("vary")];
  };
  const app = "https://app.example";
  assertEquals(await readableBy(app, "&a2c_version=9.9.9"), [400, app, "Origin"]);
  assertEquals(await readableBy(app, ""), [400, app, "Origin"]);
  // Of Engine.IO itself.
  assertEquals(await readableBy(app, "&a2c_version=0.2.0&sid=unknown"), [400, app, "Origin"]);
  assertEquals(await readableBy("https://evil.example", "&a2c_version=9.9.9"), [403, null, null]);
  assertEquals(await readableBy(undefined, "&a2c_version=9.9.9"), [400, null, null]);
});

Deno.test("SmcpServer.attach() serves under an HTTP server that keeps its own paths and its own life", async () => {
  const http = createServer((_request, response) => response.end("host"));
  const server = SmcpServer.attach(http, { allowAnonymous: true });
  assertThrows(() => server.url, TypeError, "not listening");
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { url } = server;
  const peer = await RawPeer.join(url, { role: "agent", name: "ada", office_id: "lab" });
  assertEquals(await (await fetch(`${url}/any`)).text(), "host");
  await server.close();
  assertEquals(await peer.disconnected, "transport close");
  await peer[Symbol.asyncDispose]();
  assertEquals(await (await fetch(`${url}/socket.io/`)).text(), "host");
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

Deno.test("a Server that is closing refuses new sessions with 503: nothing would end them", async () => {
  const http = createServer();
  const server = SmcpServer.attach(http, { allowAnonymous: true });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { url } = server;
  // Before the Server sees the request.
  http.prependListener("request", () => void server.close());
  assertEquals((await poll(url, "&a2c_version=0.2.0")).status, 503);
  await server.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

Deno.test("close() ends every connection, and may be called again", async () => {
  const server = await SmcpServer.listen({ port: 0 });
  const peer = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
  await Promise.all([server.close(), server.close()]);
  await peer.disconnected;
  await peer[Symbol.asyncDispose]();
});

Deno.test("listen() says why it cannot", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const { port } = server;
  const message = `Cannot listen on "127.0.0.1:${port}": the port is in use`;
  await assertRejects(() => SmcpServer.listen({ port }), Error, message);
  await assertRejects(
    () => SmcpServer.listen({ port: 0, host: "0.0.0.0" }),
    TypeError,
    "without credentials",
  );
  await assertRejects(
    () => SmcpServer.listen({ port: 0, signal: AbortSignal.abort(new RangeError("no")) }),
    RangeError,
  );
});
