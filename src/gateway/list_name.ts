/** The lists of the gateway. */
import { Throttle } from "../async/throttle.ts";

/** The lists of which clients are told that they have changed. */
export type ListName = "tools" | "resources" | "prompts";

/** How often a client is told that a list has changed, in milliseconds: a Computer that joins changes it several times. */
const INTERVAL_MS = 200;

/** Calls `tell` for each list that has changed, not more often than five times a second, until the returned function is called. */
export function throttleLists(
  onListChanged: (listener: (list: ListName) => void) => () => void,
  tell: (list: ListName) => void,
): () => void {
  const throttles = new Map<ListName, Throttle>();
  const unfollow = onListChanged((list) => {
    const throttle = throttles.get(list) ?? new Throttle(() => tell(list), INTERVAL_MS);
    throttles.set(list, throttle);
    throttle.request();
  });
  return () => {
    unfollow();
    for (const throttle of throttles.values()) throttle.close();
  };
}
