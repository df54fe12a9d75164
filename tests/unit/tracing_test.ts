import { assertEquals, assertMatch } from "@std/assert";
import {
  handleRequest,
  makeMcpRequest,
  makeRequest,
  parseTraceparent,
  startRelay,
  toTraceparent,
} from "../../src/tracing.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

Deno.test("parseTraceparent() reads what toTraceparent() builds", () => {
  const text = `00-${traceId}-${spanId}-01`;
  assertEquals(parseTraceparent(text), { traceId, spanId, traceFlags: 1, isRemote: true });
  assertEquals(toTraceparent({ traceId, spanId, traceFlags: 1 }), text);
  assertEquals(toTraceparent({ traceId, spanId, traceFlags: 0 }), `00-${traceId}-${spanId}-00`);
});

Deno.test("parseTraceparent() takes no other id for a trace", () => {
  const others = [
    "",
    "r1",
    crypto.randomUUID(),
    `00-${traceId}-${spanId}`,
    `01-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}-01\n`,
    ` 00-${traceId}-${spanId}-01`,
  ];
  for (const text of others) assertEquals(parseTraceparent(text), undefined, text);
});

Deno.test("without OpenTelemetry requests have random ids, and no spans", async () => {
  assertMatch(await makeRequest("client:x", {}, (id) => Promise.resolve(id)), /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  assertEquals(await makeMcpRequest("tools/call", {}, (meta) => Promise.resolve(meta)), undefined);
  const context = { reqId: `00-${traceId}-${spanId}-01`, attributes: {} };
  assertEquals(await handleRequest("client:x", context, () => Promise.resolve(1)), 1);
  assertEquals(startRelay("relay", context.reqId), undefined);
});
