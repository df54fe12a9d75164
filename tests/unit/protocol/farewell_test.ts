import { assertEquals } from "@std/assert";
import { readClosingNotification, toClosingNotification } from "../../../src/protocol/farewell.ts";

const farewell = { code: "server_closing", message: "The Server shuts down", reconnect: true } as const;

Deno.test("a farewell is read as it was written", () => {
  for (const each of [farewell, { ...farewell, retryAfterMs: 1_000 }, { ...farewell, reconnect: false }]) {
    assertEquals(readClosingNotification(toClosingNotification(each)), each);
  }
});

Deno.test("a malformed farewell counts as none", () => {
  const malformed = [undefined, null, [], "bye", {}, { ...farewell, reconnect: "yes" }, {
    ...farewell,
    code: 401,
  }];
  for (const body of malformed) assertEquals(readClosingNotification(body), undefined);
});

Deno.test("long texts of a farewell are cut, and long waits shortened", () => {
  const long = "x".repeat(10_000);
  const body = { code: long, message: long, reconnect: true, retry_after_ms: 1e300 };
  const read = readClosingNotification(body);
  assertEquals([read?.code.length, read?.message.length, read?.retryAfterMs], [65, 201, 300_000]);
  for (const retry_after_ms of [-1, NaN, "5", null]) {
    assertEquals(readClosingNotification({ ...farewell, retry_after_ms }), farewell);
  }
});
