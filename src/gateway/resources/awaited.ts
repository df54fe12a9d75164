/** Follows resources for a client that listens by a stream: also those that nobody has yet. */
import { Throttle } from "../../async/throttle.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import type { ScopedResources } from "./scoped_resources.ts";
import { Follower, MAX_OF_ONE_CLIENT, type ResourceSubscriptions } from "./subscriptions.ts";
import type { ResourceAddress } from "./uris.ts";

/** How often resources that nobody has are looked for, in milliseconds: a Computer may change its list all the time. */
const LOOK_INTERVAL_MS = 1_000;

export interface AwaitParts {
  readonly resources: ScopedResources;
  readonly subscriptions: ResourceSubscriptions;
  /** Calls the listener when the list of resources has changed, until the returned function is called. */
  readonly onListChanged: (listener: () => void) => () => void;
  /** Called when a Computer has a resource that nobody had, and it is followed. */
  readonly onFound: (uri: string, computer: string) => void;
  readonly logger: Logger;
}

/**
 * Follows resources, those that nobody has yet as soon as a Computer has them. Resolves, when those that are there are
 * followed, to a function that ends it.
 */
export async function followAwaited(uris: Iterable<string>, parts: AwaitParts): Promise<() => void> {
  const { resources, subscriptions, onListChanged, onFound, logger } = parts;
  const wanted = [...new Set(uris)];
  const excess = wanted.length - MAX_OF_ONE_CLIENT;
  if (excess > 0) {
    logger.warn("resources not followed: too many", { count: excess, limit: MAX_OF_ONE_CLIENT });
  }
  const missing = new Set(wanted.slice(0, MAX_OF_ONE_CLIENT));
  const follower = new Follower();
  const ends = new Set<() => void>();
  let isEnded = false;
  /** Whether the resource is followed now, and was not before. */
  const follow = async (uri: string, address: ResourceAddress): Promise<boolean> => {
    // Whoever deletes it follows it: the list may change again while it is looked for.
    if (!missing.delete(uri)) return false;
    const end = await subscriptions.follow(uri, address, { follower }).catch((error) => {
      logger.warn("resource not followed", { uri, error: describeError(error) });
    });
    if (isEnded) end?.();
    else if (end !== undefined) ends.add(end);
    return end !== undefined && !isEnded;
  };
  const look = async (onFollowed: AwaitParts["onFound"]) => {
    if (missing.size === 0) return;
    const found = await resources.findAll([...missing]).catch(() => new Map<string, ResourceAddress>());
    await Promise.all([...found].map(async ([uri, address]) => {
      if (await follow(uri, address)) onFollowed(uri, address.computer);
    }));
  };
  const looking = new Throttle(() => void look(onFound), LOOK_INTERVAL_MS);
  ends.add(onListChanged(() => missing.size > 0 ? looking.request() : undefined));
  await look(() => undefined);
  return () => {
    isEnded = true;
    missing.clear();
    looking.close();
    for (const end of ends) end();
  };
}
