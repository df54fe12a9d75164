import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { answerByFetch } from "../../../src/http/fetch_adapter.ts";
import type { AskedRequest } from "../../../src/http/headers.ts";
import { startListening, stopListening } from "../../../src/http/listening.ts";
import { within } from "../../fixtures/within.ts";

type Handler = (request: AskedRequest) => Promise<Response> | Response;

function textOf({ body }: AskedRequest): Promise<string> {
  return new Response(body).text();
}

/** A server of `node:http` whose requests a handler of web-standard ones answers. */
async function serve(handler: Handler, origin = "https://hub.example") {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void answerByFetch(request, response, { origin, fetch: async (asked) => await handler(asked) });
  });
  const port = await startListening(server, { host: "127.0.0.1", port: 0 });
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => stopListening(server),
  };
}

/** Writes bytes to a port. */
async function connect(port: number, text: string): Promise<Deno.TcpConn> {
  const socket = await Deno.connect({ hostname: "127.0.0.1", port });
  await socket.write(new TextEncoder().encode(text));
  return socket;
}

/** Reads until the text has come, or the peer has closed. */
async function readUntil(socket: Deno.TcpConn, text: string): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let read = "";
  while (!read.includes(text)) {
    const size = await within(socket.read(buffer), () => `"${text}" after "${read}"`);
    if (size === null) break;
    read += decoder.decode(buffer.subarray(0, size), { stream: true });
  }
  return read;
}

Deno.test("answerByFetch() passes on method, path, headers and body, and the answer with its cookies", async () => {
  await using server = await serve(async (request) => {
    const { method, url, headers } = request;
    const seen = { method, url, sent: headers.get("x-sent"), body: await textOf(request) };
    return Response.json(seen, {
      status: 201,
      headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"], ["x-answer", "yes"]],
    });
  });
  const answer = await fetch(`${server.url}/mcp/o/the%20lab?a=b`, {
    method: "POST",
    headers: { "x-sent": "hello" },
    body: "the body",
  });
  assertEquals([answer.status, answer.headers.get("x-answer")], [201, "yes"]);
  assertEquals(answer.headers.getSetCookie(), ["a=1", "b=2"]);
  const url = "https://hub.example/mcp/o/the%20lab?a=b";
  assertEquals(await answer.json(), { method: "POST", url, sent: "hello", body: "the body" });
  const head = await fetch(server.url, { method: "HEAD" });
  assertEquals([head.status, await head.text()], [201, ""]);
  const none = await fetch(server.url, { method: "DELETE" });
  assertEquals((await none.json()).body, "");
});

Deno.test("answerByFetch() sends the head of an answer before its first piece, and each piece as it comes", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  await using server = await serve(() =>
    new Response(readable, { headers: { "content-type": "text/event-stream" } })
  );
  const answer = await within(fetch(server.url), "the head of the answer");
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (const piece of ["data: one\n\n", "data: two\n\n"]) {
    void writer.write(new TextEncoder().encode(piece));
    assertEquals((await within(reader?.read() ?? Promise.reject(), piece))?.value, piece);
  }
  await writer.close();
  assertEquals((await reader?.read())?.done, true);
});

Deno.test("answerByFetch() tells the handler that its client is gone, and stops reading the answer", async () => {
  const cancelled = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  await using server = await serve((request) => {
    request.signal.addEventListener("abort", () => aborted.resolve());
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
        cancel: () => cancelled.resolve(),
      }),
    );
  });
  const socket = await connect(server.port, "GET / HTTP/1.1\r\nhost: hub\r\n\r\n");
  assertStringIncludes(await readUntil(socket, "first"), "200 OK");
  socket.close();
  await within(Promise.all([cancelled.promise, aborted.promise]), "the end of the answer");
});

Deno.test("answerByFetch() does not abort a request that was answered", async () => {
  const signals: AbortSignal[] = [];
  await using server = await serve((request) => {
    signals.push(request.signal);
    return new Response("whole");
  });
  const socket = await connect(server.port, "GET / HTTP/1.1\r\nhost: hub\r\n\r\n");
  await readUntil(socket, "whole");
  // The next request on the same connection comes after the end of the first answer.
  await socket.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: hub\r\n\r\n"));
  await readUntil(socket, "whole");
  socket.close();
  assertEquals(signals.length, 2);
  assertEquals(signals[0]?.aborted, false);
});

Deno.test("answerByFetch() reads an answer no faster than its client", async () => {
  const PIECE = new Uint8Array(256 * 1024);
  const MOST = 400;
  let pulled = 0;
  await using server = await serve(({ url }) =>
    url.endsWith("/other") ? new Response() : new Response(
      new ReadableStream({
        pull(controller) {
          pulled++;
          if (pulled > MOST) controller.close();
          else controller.enqueue(PIECE);
        },
      }, { highWaterMark: 0 }),
    )
  );
  const socket = await connect(server.port, "GET / HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n\r\n");
  await readUntil(socket, "200 OK");
  // The buffers of the system fill up, and nothing more is asked for: 100 MiB do not wait in memory.
  for (let before = -1; before !== pulled;) {
    before = pulled;
    await (await fetch(`${server.url}/other`)).text();
  }
  assertEquals(pulled < MOST, true, `${pulled} pieces were read`);
  let size = 0;
  const buffer = new Uint8Array(1024 * 1024);
  for (let read = await socket.read(buffer); read !== null; read = await socket.read(buffer)) size += read;
  assertEquals(size > PIECE.length * (MOST - 2), true, `${size} bytes came`);
  socket.close();
});

Deno.test("answerByFetch() reads nothing of a body that the handler does not ask for", async () => {
  const refused = Promise.withResolvers<void>();
  await using server = await serve((request) => {
    if (request.headers.get("x-wanted") === null) {
      refused.resolve();
      return new Response("too large", { status: 413 });
    }
    return textOf(request).then((text) => new Response(`${text.length}`));
  });
  const body = "x".repeat(8 * 1024 * 1024);
  const head = `POST / HTTP/1.1\r\nhost: hub\r\ncontent-length: ${body.length}\r\n`;
  const socket = await connect(server.port, `${head}\r\n${body.slice(0, 1000)}`);
  assertStringIncludes(await readUntil(socket, "too large"), "413");
  await refused.promise;
  socket.close();
  const wanted = await fetch(server.url, { method: "POST", headers: { "x-wanted": "yes" }, body });
  assertEquals(await wanted.text(), `${body.length}`);
});

Deno.test("answerByFetch() ends the body of a client that goes away while it sends it", async () => {
  const cut = Promise.withResolvers<unknown>();
  await using server = await serve((request) =>
    textOf(request).then((text) => new Response(text), (error) => {
      cut.resolve(error);
      return new Response(null, { status: 400 });
    })
  );
  const socket = await connect(
    server.port,
    "POST / HTTP/1.1\r\nhost: hub\r\ncontent-length: 100\r\n\r\npart",
  );
  socket.close();
  assertStringIncludes(String(await within(cut.promise, "the end of the body")), "cut off");
});

Deno.test("answerByFetch() refuses a request whose host cannot stand in a URL", async () => {
  await using server = await serve(() => new Response("never"), "https://a b");
  const answer = await fetch(server.url);
  assertEquals(answer.status, 400);
  assertStringIncludes((await answer.json()).error, "Cannot read the request");
});

Deno.test("answerByFetch() ends a connection that sends a request before the last one is answered", async () => {
  const held = Promise.withResolvers<Response>();
  await using server = await serve(() => held.promise);
  const request = "GET / HTTP/1.1\r\nhost: hub\r\n\r\n";
  const socket = await connect(server.port, request + request);
  assertEquals(await readUntil(socket, "never"), "");
  socket.close();
  held.resolve(new Response("late"));
});

Deno.test("answerByFetch() refuses a host that would lead to another path", async () => {
  for (
    const host of ["hub.example/mcp/o/den?", "hub.example#", "hub.example\\den?", "user@hub.example", ""]
  ) {
    await using server = await serve(() => new Response("reached"), `https://${host}`);
    const answer = await fetch(`${server.url}/mcp/o/lab`);
    assertStringIncludes(await answer.text(), "Cannot read the request");
    assertEquals(answer.status, 400);
  }
  await using server = await serve(({ url }) => new Response(url), "http://[::1]:80");
  assertEquals(await (await fetch(`${server.url}/a`)).text(), "http://[::1]/a");
});
