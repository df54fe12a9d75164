import { assertEquals } from "@std/assert";
import { Account, Budget, Holding, SMALL_MESSAGE_BYTES } from "../../../../src/server/engine/budget.ts";

const SHARE = 1_000_000;
const own = () => ({ incompleteBytes: 0 });

function open(budget: Budget, owner = own()): Holding {
  const account = new Account(budget);
  account.assignTo(owner);
  return new Holding(account);
}

Deno.test("the incoming messages of one owner have a quarter together, and small ones always have room", () => {
  const budget = new Budget(4 * SHARE);
  const [ada, eve] = [own(), own()];
  const [first, second] = [open(budget, eve), open(budget, eve)];
  assertEquals([first.hold(900_000), second.hold(200_000)], [true, false]);
  assertEquals(second.hold(SMALL_MESSAGE_BYTES), true);
  assertEquals(open(budget, ada).hold(SHARE), true);
  assertEquals([eve.incompleteBytes, ada.incompleteBytes], [900_000 + SMALL_MESSAGE_BYTES, SHARE]);
  first.hold(0);
  assertEquals(second.hold(SHARE), true);
  assertEquals([eve.incompleteBytes, budget.usedBytes], [SHARE, 2 * SHARE]);
});

Deno.test("a message that grows needs no room for what it has had", () => {
  const message = open(new Budget(4 * SHARE));
  message.change(SHARE / 2);
  assertEquals([message.hasRoom(SHARE), message.hasRoom(SHARE + 1)], [true, false]);
});

Deno.test("before its admission a session has room for small messages, which its owner holds afterwards", () => {
  const account = new Account(new Budget(4 * SHARE));
  const message = new Holding(account);
  assertEquals([message.hold(SMALL_MESSAGE_BYTES + 1), message.hold(SMALL_MESSAGE_BYTES)], [false, true]);
  const owner = own();
  account.assignTo(owner);
  assertEquals([message.hasRoom(SHARE), owner.incompleteBytes], [true, SMALL_MESSAGE_BYTES]);
  message.hold(0);
  assertEquals(owner.incompleteBytes, 0);
});

Deno.test("what waits outward has half of the budget, and leaves the rest to what comes in", () => {
  const budget = new Budget(4 * SHARE);
  budget.outwardBytes = 2 * SHARE - 100_000;
  assertEquals([100_000, 100_001].map((bytes) => budget.hasOutwardRoom(bytes)), [true, false]);
  assertEquals(open(budget).hold(SHARE), true);
  assertEquals(budget.usedBytes, 3 * SHARE - 100_000);
});
