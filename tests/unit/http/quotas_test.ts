import { assertEquals } from "@std/assert";
import { StrangerQuotas } from "../../../src/http/quotas.ts";

Deno.test("an address has to wait when it asks too often, and others have not", () => {
  let now = 0;
  const quotas = new StrangerQuotas(() => now);
  const waits = Array.from({ length: 21 }, () => quotas.take("register", "203.0.113.1"));
  assertEquals(waits, [...Array<undefined>(20).fill(undefined), 3]);
  assertEquals(quotas.take("register", "203.0.113.2"), undefined);
  assertEquals(quotas.take("token", "203.0.113.1"), undefined);
  now += 3_000;
  assertEquals(quotas.take("register", "203.0.113.1"), undefined);
});

Deno.test("the addresses of one network have a bound together, and those of others have not to wait for them", () => {
  for (
    const addressOf of [(n: number) => `203.0.113.${n}`, (n: number) => `2001:db8:1:${n.toString(16)}::1`]
  ) {
    const quotas = new StrangerQuotas(() => 0);
    const waits = Array.from({ length: 81 }, (_, count) => quotas.take("register", addressOf(count)));
    assertEquals(waits.filter((wait) => wait === undefined).length, 80);
    assertEquals(quotas.take("register", "198.51.100.1"), undefined);
    assertEquals(quotas.take("register", "2001:db8:2::1"), undefined);
  }
});

Deno.test("all strangers together have to wait, and those who have a grant have a share of their own", () => {
  const quotas = new StrangerQuotas(() => 0);
  quotas.know("192.0.2.1");
  for (let count = 0; count < 400; count++) {
    assertEquals(quotas.take("register", `10.0.${count}.1`), undefined);
  }
  assertEquals(quotas.take("register", "198.51.100.1"), 1);
  assertEquals(quotas.take("register", "192.0.2.2"), undefined);
});

Deno.test("a network that asks for much is not forgotten, from however many addresses it asks", () => {
  const quotas = new StrangerQuotas(() => 0);
  const addressOf = (count: number) => `2001:db8:1:${count.toString(16)}::1`;
  let guesses = 0;
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 50; count++) {
      if (quotas.take("guess", addressOf(count)) === undefined) guesses++;
    }
    for (let count = 0; count < 9_000; count++) quotas.take("register", addressOf(count));
  }
  assertEquals(guesses, 40);
});
