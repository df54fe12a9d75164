/** Attacker: a stranger who sends many HTTP requests in one piece, and reads no answer. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { exchange, frame, openPolling, openWebSocket, POLLING, RawConnection, toText } from "./_raw_http.ts";

const EMPTY_LINES = "\r\n\n".repeat(20);

for (const target of ["/healthz", "/nothing", POLLING]) {
  Deno.test(`Of 500 requests for ${target} in one piece, none is answered, and the connection ends`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using connection = new RawConnection(server.port);
    connection.write(toText(server.port, { target, headers: { Connection: "keep-alive" } }).repeat(500));
    await connection.untilClosed();
    assertEquals(connection.received.split("HTTP/1.1 200").length - 1, 0);
  });
}

Deno.test("Requests in one piece after one that was answered end the connection as well", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using connection = new RawConnection(server.port);
  const request = toText(server.port, { target: "/healthz", headers: { Connection: "keep-alive" } });
  connection.write(request);
  await connection.until("answer", (text) => text.includes("Server: ok"));
  connection.write(request.repeat(500));
  await connection.untilClosed();
  assertEquals(connection.received.split("Server: ok").length - 1, 1);
});

Deno.test("Requests without a version, of nine bytes each, are no way around it", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using connection = new RawConnection(server.port);
  connection.write("GET /\r\n\r\n".repeat(2_000));
  await connection.untilClosed();
  assertEquals(connection.received, "");
});

Deno.test("A client may send two requests before it reads the answers", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using connection = new RawConnection(server.port);
  connection.write(
    toText(server.port, { target: "/healthz", headers: { Connection: "keep-alive" } }).repeat(2),
  );
  await connection.until("two answers", (text) => text.split("Server: ok").length === 3);
});

Deno.test("Empty lines in a websocket's packets are no requests", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using connection = await openWebSocket(server.port);
  connection.write(frame(`40/smcp,{${EMPTY_LINES}}`));
  await connection.until("admission", (text) => text.includes('40/smcp,{"sid"'));
});

Deno.test("Empty lines in the body of a member that polls are no requests", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = `${POLLING}&sid=${await openPolling(server.port)}`;
  await exchange(server.port, { target, method: "POST", body: "40/smcp," });
  assertStringIncludes((await exchange(server.port, { target })).body, '40/smcp,{"sid"');
  await using connection = new RawConnection(server.port);
  const body = `42/smcp,1["x",${EMPTY_LINES}{}]`;
  const headers = { "Content-Length": String(body.length), Expect: "100-continue" };
  connection.write(toText(server.port, { target, method: "POST", headers }));
  await connection.until("leave to go on", (text) => text.includes("100 Continue"));
  connection.write(body);
  await connection.until("answer", (text) => text.includes("HTTP/1.1 200"));
});
