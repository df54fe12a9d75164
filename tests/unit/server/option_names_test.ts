import { assertRejects, assertThrows } from "@std/assert";
import { createServer } from "node:http";
import { SmcpServer } from "../../../src/server/server.ts";

Deno.test("SmcpServer refuses options that do not exist, and names the closest one", async () => {
  const misspelt = { port: 0, authh: { authenticate: () => ({ refused: "no" }) } };
  await assertRejects(() => SmcpServer.listen(misspelt), TypeError, 'did you mean "auth"');
  const http = createServer();
  const attached = { allowAnonymous: true, metricsPort: 0 };
  assertThrows(() => SmcpServer.attach(http, attached), TypeError, '"metricsPort" of the Server: unknown');
});
