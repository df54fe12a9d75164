import { assertEquals } from "@std/assert";
import { SMALL_MESSAGE_BYTES } from "../../../src/server/limits.ts";
import { MemoryBudget } from "../../../src/server/memory_budget.ts";
import { IncompleteMessage, type MessageOwner } from "../../../src/server/message_shares.ts";

const SHARE = 1_000_000;

function openShares() {
  const memory = new MemoryBudget(4 * SHARE);
  const owners = new Map<string, MessageOwner>();
  const shares = { memory, maxShareBytes: SHARE, ownerOf: (session: string) => owners.get(session) };
  const own = () => ({ incompleteBytes: 0 });
  return { memory, owners, shares, own };
}

Deno.test("the messages of one owner have a share together, and small ones always have room", () => {
  const { memory, owners, shares, own } = openShares();
  const [ada, eve] = [own(), own()];
  owners.set("a", ada).set("e1", eve).set("e2", eve);
  const first = new IncompleteMessage(shares, "e1");
  const second = new IncompleteMessage(shares, "e2");
  assertEquals([first.hold(900_000), second.hold(200_000)], [true, false]);
  assertEquals(second.hold(SMALL_MESSAGE_BYTES), true);
  assertEquals(new IncompleteMessage(shares, "a").hold(SHARE), true);
  assertEquals([eve.incompleteBytes, ada.incompleteBytes], [900_000 + SMALL_MESSAGE_BYTES, SHARE]);
  first.hold(0);
  assertEquals(second.hold(SHARE), true);
  assertEquals([eve.incompleteBytes, memory.usedBytes], [SHARE, 2 * SHARE]);
});

Deno.test("a message that grows needs no room for what it has had", () => {
  const { owners, shares, own } = openShares();
  owners.set("s", own());
  const message = new IncompleteMessage(shares, "s");
  message.change(SHARE / 2);
  assertEquals([message.hasCapacity(SHARE), message.hasCapacity(SHARE + 1)], [true, false]);
});

Deno.test("what arrived before the admission counts in the share as well", () => {
  const { owners, shares, own } = openShares();
  const message = new IncompleteMessage(shares, undefined);
  message.change(50_000);
  message.belongTo("s");
  const owner = own();
  owners.set("s", owner);
  assertEquals([message.hasCapacity(SHARE), owner.incompleteBytes], [true, 50_000]);
  message.hold(0);
  assertEquals(owner.incompleteBytes, 0);
});

Deno.test("only small messages have room before the admission and after the end of a session", () => {
  const { owners, shares, own } = openShares();
  const message = new IncompleteMessage(shares, "s");
  assertEquals([SMALL_MESSAGE_BYTES, SMALL_MESSAGE_BYTES + 1].map((size) => message.hold(size)), [
    true,
    false,
  ]);
  owners.set("s", own());
  assertEquals(message.hold(SHARE), true);
  owners.delete("s");
  assertEquals(new IncompleteMessage(shares, "s").hold(SMALL_MESSAGE_BYTES + 1), false);
});
