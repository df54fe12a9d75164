import { assertEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerPlainRequest } from "../../../../src/server/engine/port.ts";
import { toSettings } from "../../../../src/server/options/settings.ts";

Deno.test("answerPlainRequest() answers a health check with 503 while connections are not accepted", async () => {
  const { handshake } = toSettings({}, "127.0.0.1");
  let isHealthy = true;
  const check = () => isHealthy ? undefined : "cannot accept connections";
  const http = createServer((request, response) =>
    answerPlainRequest(request, response, { handshake, checks: new Map([["/healthz", check], ["/", check]]) })
  );
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals([await ask("/healthz"), await ask("/nope")], [200, 404]);
  isHealthy = false;
  assertEquals([await ask("/healthz"), await ask("/"), await ask("/nope")], [503, 503, 404]);
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});
