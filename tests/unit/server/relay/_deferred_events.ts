/** Events that wait for a change of a membership, for a test. */
import { Account, Budget } from "../../../../src/server/engine/budget.ts";
import { DeferredEvents } from "../../../../src/server/relay/deferred_events.ts";

/** What waits, and the memory that it counts in. */
export function deferEvents(maxShareBytes = 16 * 1024 * 1024) {
  const budget = new Budget(4 * maxShareBytes);
  const owner = { incompleteBytes: 0 };
  const account = new Account(budget);
  account.assignTo(owner);
  return { deferred: new DeferredEvents(account), memory: budget, owner };
}
