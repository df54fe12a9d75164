import { assertEquals } from "@std/assert";
import { HubQuotas } from "../../../src/hub/quotas.ts";

Deno.test("an address has to wait when it asks too often, and others have not", () => {
  let now = 0;
  const quotas = new HubQuotas(() => now);
  const waits = Array.from({ length: 21 }, () => quotas.take("register", "203.0.113.1"));
  assertEquals(waits, [...Array<undefined>(20).fill(undefined), 3]);
  assertEquals(quotas.take("register", "203.0.113.2"), undefined);
  assertEquals(quotas.take("token", "203.0.113.1"), undefined);
  now += 3_000;
  assertEquals(quotas.take("register", "203.0.113.1"), undefined);
});

Deno.test("all addresses together have to wait as well", () => {
  const quotas = new HubQuotas(() => 0);
  for (let count = 0; count < 400; count++) {
    assertEquals(quotas.take("register", `10.0.${count >> 8}.${count & 255}`), undefined);
  }
  assertEquals(quotas.take("register", "192.0.2.1"), 1);
});
