/** Attacker: a web page. It tries to use the Server on the machine of whoever opens it, by every request a browser makes. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createServer } from "node:http";
import { SmcpServer, staticTokens } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";
import { exchange, openPolling, POLLING, RawConnection, UPGRADE_HEADERS, WEBSOCKET } from "./_raw_http.ts";

const evil = { Origin: "http://evil.example" };
const join = '42/smcp,1["server:join_office",{"role":"agent","name":"thief","office_id":"lab"}]';

Deno.test("A script element gets no session: JSONP is refused, with and without a session", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const sid = await openPolling(server.port);
  for (const target of [`${POLLING}&j=0`, `${POLLING}&sid=${sid}&j=0`]) {
    const script: Record<string, string> = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "script" };
    for (const headers of [{}, script]) {
      const { status, body } = await exchange(server.port, { target, headers });
      assert(status === 400 || status === 403, String(status));
      assert(!body.includes("___eio"), body);
    }
  }
});

Deno.test("A page's requests are refused in a session that exists, too: GET, POST, preflight and websocket", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const sid = await openPolling(server.port);
  const polling = `${POLLING}&sid=${sid}`;
  const requests = [
    { target: polling, headers: evil },
    {
      method: "POST",
      target: polling,
      headers: { ...evil, "Content-Type": "text/plain" },
      body: `40/smcp,\x1e${join}`,
    },
    { method: "OPTIONS", target: polling, headers: { ...evil, "Access-Control-Request-Method": "POST" } },
    { target: `${WEBSOCKET}&sid=${sid}`, headers: { ...evil, ...UPGRADE_HEADERS } },
    { target: WEBSOCKET, headers: { ...evil, ...UPGRADE_HEADERS } },
    { target: "/healthz", headers: evil },
  ];
  for (const request of requests) {
    const { status, head } = await exchange(server.port, request);
    assertEquals(status, 403, JSON.stringify(request));
    assert(!/access-control-allow/i.test(head), head);
  }
});

Deno.test("A refusal of one page is not kept for another one: no cache may store it", async () => {
  await using server = await SmcpServer.listen({ port: 0, allowedOrigins: ["https://app.example"] });
  const foreign = [evil, { Host: "evil.example" }];
  const requests = [
    { target: POLLING, senders: foreign },
    { target: "/healthz", senders: foreign },
    { target: WEBSOCKET, senders: foreign.map((headers) => ({ ...headers, ...UPGRADE_HEADERS })) },
    { target: POLLING.replace("=0.2", "=9.9"), senders: [...foreign, { Origin: "https://app.example" }, {}] },
  ];
  for (const { target, senders } of requests) {
    for (const headers of senders) {
      const { status, head } = await exchange(server.port, { target, headers });
      assert(status === 403 || status === 400, `${target} ${head}`);
      assert(/^cache-control: no-store\r?$/im.test(head), `${target} ${head}`);
    }
  }
});

Deno.test("A page of another site is refused where its browser sends no Origin", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const sid = await openPolling(server.port);
  for (const site of ["cross-site", "same-site"]) {
    for (const target of [POLLING, `${POLLING}&sid=${sid}`, "/healthz", "/"]) {
      const { status } = await exchange(server.port, { target, headers: { "Sec-Fetch-Site": site } });
      assertEquals(status, 403, `${site} ${target}`);
    }
  }
});

Deno.test("A page whose name now leads to this machine is refused by its Host, on every path", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const { port } = server;
  const sid = await openPolling(port);
  for (
    const host of [
      `evil.example:${port}`,
      "evil.example",
      `localhost.evil.example:${port}`,
      "127.0.0.1.evil.example",
    ]
  ) {
    const targets = [POLLING, `${POLLING}&sid=${sid}`, "/healthz", "/", "/nope"];
    for (const target of targets) {
      const { status } = await exchange(port, { target, headers: { Host: host } });
      assertEquals(status, 403, `${host} ${target}`);
    }
    // What the browser takes for the same origin has neither an Origin nor another site.
    const headers = { Host: host, "Sec-Fetch-Site": "same-origin" };
    assertEquals((await exchange(port, { target: POLLING, headers })).status, 403);
    const upgrade = { ...UPGRADE_HEADERS, Host: host, Origin: `http://${host}` };
    assertEquals((await exchange(port, { target: WEBSOCKET, headers: upgrade })).status, 403);
  }
});

Deno.test("A request has one Host: with two, or with none in HTTP/1.1, it is refused on every port and path", async () => {
  const listening = { port: 0, metricsPort: 0 };
  await using open = await SmcpServer.listen(listening);
  await using guarded = await SmcpServer.listen({ ...listening, auth: staticTokens({ tokens: ["s3cret"] }) });
  const two = "Host: localhost\r\nhost: evil.example\r\n";
  for (const { port, metricsUrl = "" } of [open, guarded]) {
    for (const target of [POLLING, WEBSOCKET, "/healthz", "/metrics"]) {
      const upgrade = target === WEBSOCKET ? UPGRADE_HEADERS : { Connection: "close" };
      const rest = Object.entries(upgrade).map(([name, value]) => `${name}: ${value}\r\n`).join("");
      for (const hosts of [two, ""]) {
        await using connection = new RawConnection(
          target === "/metrics" ? Number(new URL(metricsUrl).port) : port,
        );
        connection.write(`GET ${target} HTTP/1.1\r\n${hosts}${rest}\r\n`);
        await connection.untilClosed();
        assertStringIncludes(connection.received, "HTTP/1.1 400", `${target} ${hosts}`);
      }
    }
  }
});

Deno.test("The Host is checked of an attached and of an open Server without credentials, and named when it is refused", async () => {
  const http = createServer((_request, response) => response.end("host program"));
  const attached = SmcpServer.attach(http, { allowAnonymous: true, allowedHosts: ["hub.example"] });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  await using open = await SmcpServer.listen({ port: 0, host: "0.0.0.0", allowAnonymous: true });
  for (const { port } of [attached, open]) {
    const refused = await exchange(port, { target: POLLING, headers: { Host: `evil.example:${port}` } });
    assertEquals(refused.status, 403);
    assertStringIncludes(refused.body, "evil.example");
    assertEquals((await exchange(port, { target: POLLING })).status, 200);
  }
  const listed = { target: POLLING, headers: { Host: "hub.example" } };
  assertEquals((await exchange(attached.port, listed)).status, 200);
  await attached.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

Deno.test("Programs connect as before: without an Origin, by any name of this machine, and by any name with a token", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const { port } = server;
  for (const name of ["127.0.0.1", "localhost"]) {
    await using _peer = await RawPeer.connect(`http://${name}:${port}`);
  }
  // A tunnel (ssh -L) and a container (docker -p) have other ports.
  for (const host of ["localhost:8080", "127.0.0.1", "[::1]:8080"]) {
    assertEquals((await exchange(port, { target: POLLING, headers: { Host: host } })).status, 200, host);
  }
  await using healthCheck = new RawConnection(port);
  healthCheck.write("GET /healthz HTTP/1.0\r\n\r\n");
  await healthCheck.until("answer", (text) => text.includes("Server: ok"));
  await using _page = await RawPeer.connect(server.url, { headers: { Origin: "http://localhost:5173" } });
  await using guarded = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
  const { status } = await exchange(guarded.port, { target: POLLING, headers: { Host: "hub.example" } });
  assertEquals(status, 200);
  // Python's websocket-client sends the URL that it was given as its Origin.
  await using listed = await SmcpServer.listen({ port: 0, allowedHosts: ["hub.example"] });
  for (const hub of [guarded, listed]) {
    const headers = { Host: "hub.example", Origin: "http://hub.example" };
    assertEquals((await exchange(hub.port, { target: POLLING, headers })).status, 200);
  }
});
