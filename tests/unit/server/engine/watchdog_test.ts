import { assertEquals, assertStringIncludes } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLogger } from "../../../../src/log.ts";
import type { ListenError } from "../../../../src/http/listening.ts";
import { Watchdog } from "../../../../src/server/engine/watchdog.ts";

const host = "127.0.0.1";
const fast = { host, logger: silentLogger, intervalMs: 5, timeoutMs: 20 };

/** An HTTP server that listens, with a Watchdog. */
async function start(onFailed: (error: ListenError) => void) {
  const http = createServer((_request, response) => response.end("ok"));
  await new Promise<void>((resolve) => http.listen(0, host, resolve));
  const { port } = http.address() as AddressInfo;
  const watchdog = new Watchdog(http, { ...fast, port, onFailed });
  // Its first connection shows that the platform tells of connections.
  await (await fetch(`http://${host}:${port}/`)).text();
  return { http, port, watchdog };
}

Deno.test("A Watchdog makes a server that no longer accepts connections listen anew", async () => {
  const { http, port, watchdog } = await start((error) => {
    throw error;
  });
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  await new Promise((resolve) => http.once("listening", resolve));
  assertEquals(watchdog.isHealthy, false);
  await (await fetch(`http://${host}:${port}/`)).text();
  await watchdog.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

Deno.test("A Watchdog says so when listening anew does not help", async () => {
  const failed = Promise.withResolvers<ListenError>();
  const { http, port, watchdog } = await start(failed.resolve);
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  // Another program has the port now.
  using _other = Deno.listen({ hostname: host, port });
  assertStringIncludes((await failed.promise).message, `Cannot accept connections on "${host}:${port}"`);
  assertEquals(watchdog.isHealthy, false);
  await watchdog.close();
});
