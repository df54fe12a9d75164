/** Events that wait for a change of a membership, for a test. */
import { HeldEvents } from "../../../../src/server/relay/held_events.ts";
import { MemoryBudget } from "../../../../src/server/memory_budget.ts";
import { IncompleteMessage } from "../../../../src/server/message_shares.ts";

/** What waits, and the memory that it counts in. */
export function holdEvents(maxShareBytes = Infinity) {
  const memory = new MemoryBudget(64 * 1024 * 1024);
  const owner = { incompleteBytes: 0 };
  const shares = { memory, maxShareBytes, ownerOf: () => owner };
  return { held: new HeldEvents(new IncompleteMessage(shares, "s")), memory, owner };
}
