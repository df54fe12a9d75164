/** Attacker: the proxy on the way, or whoever writes its address. It must get no more than a tunnel, and hold up nobody. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openHttpClient } from "../../src/reach/http_client.ts";
import { type HttpProxy, parseProxy, ProxyError } from "../../src/reach/proxies.ts";
import { openTunnel, sendThrough } from "../../src/reach/tunnel.ts";
import { FakeTimers } from "../fixtures/fake_timers.ts";
import { within } from "../fixtures/within.ts";

const TARGET = new URL("http://target.example:81/x?y=1#z");
const OK = "HTTP/1.1 200 OK\r\n\r\n";

/** A proxy that does with each connection what the test wants. */
class RawProxy implements Disposable {
  /** What clients sent first. */
  readonly heads: string[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #serve: (connection: Deno.TcpConn) => Promise<void>;

  constructor(serve: (connection: Deno.TcpConn) => Promise<void>) {
    this.#serve = serve;
    void this.#accept();
  }

  /** As a variable names it. */
  at(credentials = ""): HttpProxy {
    const value = `http://${credentials}127.0.0.1:${this.#listener.addr.port}`;
    return parseProxy({ name: "HTTPS_PROXY", value });
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      this.heads.push(await readSome(connection));
      await this.#serve(connection).catch(() => {});
      close(connection);
    }
  }

  [Symbol.dispose](): void {
    this.#listener.close();
  }
}

/** A failed write has closed it. */
function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

async function readSome(connection: Deno.TcpConn): Promise<string> {
  const bytes = new Uint8Array(65_536);
  const count = await within(connection.read(bytes), "bytes of the client").catch(() => null);
  return new TextDecoder().decode(bytes.subarray(0, count ?? 0));
}

async function writeAll(connection: Deno.TcpConn, text: string): Promise<void> {
  const writer = connection.writable.getWriter();
  await writer.write(new TextEncoder().encode(text));
  writer.releaseLock();
}

const signal = new AbortController().signal;

Deno.test("the head of an answer to CONNECT is read for 16 KiB, not for gigabytes", async () => {
  let sent = 0;
  const ended = Promise.withResolvers<void>();
  using proxy = new RawProxy(async (connection) => {
    try {
      await writeAll(connection, "HTTP/1.1 200 OK\r\n");
      for (; sent < 2 ** 30; sent += 10_000) await writeAll(connection, `x: ${"y".repeat(9_995)}\r\n`);
    } finally {
      ended.resolve();
    }
  });
  const opened = openTunnel(proxy.at(), TARGET, { signal });
  const error = await assertRejects(() => opened, ProxyError, "too long a head");
  assertEquals(error.code, "PROXY_REFUSED");
  await within(ended.promise, "the proxy to find its connection closed");
  assert(sent < 2 ** 26, `${sent} bytes`);
});

Deno.test("a proxy that never answers costs 10 seconds, and then its connection", async () => {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  using proxy = new RawProxy(async (connection) => {
    asked.resolve();
    await connection.read(new Uint8Array(1)).catch(() => {});
    closed.resolve();
  });
  const clock = new FakeTimers();
  const opened = openTunnel(proxy.at(), TARGET, { signal });
  const failed = assertRejects(() => opened, ProxyError, "no connection in 10000 ms");
  try {
    await asked.promise;
    clock.advance(10_000);
  } finally {
    clock[Symbol.dispose]();
  }
  await within(failed, "the tunnel to fail");
  await within(closed.promise, "the proxy to find its connection closed");
});

Deno.test("bytes that a proxy sends after its head, in the target's name, end the tunnel", async () => {
  using proxy = new RawProxy((connection) => writeAll(connection, `${OK}HTTP/1.1 200 OK\r\n\r\nforged`));
  await assertRejects(
    () => openTunnel(proxy.at(), TARGET, { signal }),
    ProxyError,
    "does not answer as an HTTP proxy",
  );
});

Deno.test("an answer that is no HTTP, a redirect, or none is no tunnel", async () => {
  const answers = ["\x05\x00\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\n\r\n", ""];
  for (const answer of answers) {
    using proxy = new RawProxy((connection) => writeAll(connection, answer));
    await assertRejects(() => openTunnel(proxy.at(), TARGET, { signal }), ProxyError, "proxy");
  }
});

Deno.test("line breaks in the user name or the password add no header", async () => {
  using proxy = new RawProxy((connection) => writeAll(connection, OK));
  const tunnel = await openTunnel(proxy.at("a%0d%0aX-Evil:1:b%0d%0a%0d%0aGET%20%2F@"), TARGET, { signal });
  tunnel.destroy();
  const [head = ""] = proxy.heads;
  const lines = head.split("\r\n").map((line) => line.split(":")[0]);
  assertEquals(lines, ["CONNECT target.example", "Host", "Proxy-Authorization", "", ""]);
});

Deno.test("the credentials of the proxy do not go into the tunnel, and those for the Server not to a proxy of TLS", async () => {
  const inside = Promise.withResolvers<string>();
  using proxy = new RawProxy(async (connection) => {
    await writeAll(connection, OK);
    inside.resolve(await readSome(connection));
  });
  const url = new URL("https://target.example/socket.io/?token=s3cret");
  const headers = { authorization: "Bearer s3cret" };
  const sent = sendThrough(proxy.at("ada:pa55@"), url, { method: "GET", headers, signal });
  const failed = assertRejects(() => sent);
  // A ClientHello of TLS.
  assertEquals((await inside.promise).charCodeAt(0), 22);
  assert(!(await inside.promise).includes("pa55") && !(await inside.promise).includes(btoa("ada:pa55")));
  assertStringIncludes(proxy.heads.join(), btoa("ada:pa55"));
  assert(!proxy.heads.join().includes("s3cret"));
  await within(failed, "the request to fail");
});

Deno.test("a request without TLS tells the proxy its target and its credentials once, and gives no text of a 407 on", async () => {
  const answer = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=evil\r\nContent-Length: 4\r\n\r\nevil";
  using proxy = new RawProxy((connection) => writeAll(connection, answer));
  const sent = sendThrough(proxy.at("ada:pa55@"), TARGET, { method: "GET", headers: {}, signal });
  const error = await assertRejects(() => sent, ProxyError, "407");
  assertEquals(/evil|pa55/.test(Deno.inspect(error)), false);
  const [head = ""] = proxy.heads;
  assert(head.startsWith("GET http://target.example:81/x?y=1 HTTP/1.1\r\n"), head);
  assertEquals(head.match(/^(?:host|proxy-authorization):/gim)?.map((name) => name.toLowerCase()).sort(), [
    "host:",
    "proxy-authorization:",
  ]);
});

Deno.test("opening a client for one address leaves NO_PROXY of this process as it was", () => {
  const before = [Deno.env.get("NO_PROXY"), Deno.env.get("no_proxy")];
  openHttpClient(new URL("http://127.0.0.1/")).client.close();
  assertEquals([Deno.env.get("NO_PROXY"), Deno.env.get("no_proxy")], before);
});
