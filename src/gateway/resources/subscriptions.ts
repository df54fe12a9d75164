/** Subscriptions of clients to resources of Computers. */
import { settledWithin } from "../../async/abortable.ts";
import type { Office } from "../../agent/toolkit/office.ts";
import type { OfficeChange, OfficeView } from "../../agent/toolkit/office_view.ts";
import { hasDpeScheme } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import type { Logger } from "../../log.ts";
import { isForbidden } from "../../protocol/errors.ts";
import { describeError } from "../../text/text.ts";
import { toSeenLine } from "../../text/safe_text.ts";
import type { ResourceAddress } from "./uris.ts";
import { Throttle } from "../../async/throttle.ts";
import type { ScopedResources } from "./scoped_resources.ts";

/** The most resources that all clients together subscribe to. */
export const MAX_SUBSCRIPTIONS = 1_000;
export const MAX_OF_ONE_CLIENT = 500;
/** So many of {@linkcode MAX_SUBSCRIPTIONS} are left for clients that have few, and what few are. */
const RESERVED = 250;
const FEW = 16;

/** How long a client waits for a Computer that does not answer, in milliseconds. */
const PATIENCE_MS = 5_000;

/** A client that subscribes: a session of MCP of 2025, or a stream of 2026. */
export class Follower {
  count = 0;
}

interface Followed {
  readonly address: ResourceAddress;
  /** How many subscriptions of clients there are, by the URI that they use: two URIs may lead to one resource. */
  readonly holders: Map<string, number>;
  /** Whether the Computer tells of this resource alone; otherwise all its windows or documents count as changed. */
  isExact: boolean;
  /** Whether the Computer has refused the last request, as one that its owner has paused does. */
  isRefused: boolean;
  /** Resolves when the Computer has answered the last request. Never rejects. */
  subscribing: Promise<void>;
}

/** Follows resources for clients, each once at its Computer, and again when the Computer or the connection returns. */
export class ResourceSubscriptions {
  readonly #view: OfficeView;
  readonly #log: Logger;
  readonly #onUpdated: (clientUri: string, computer: string) => void;
  /** By {@linkcode keyOf}. */
  readonly #followed = new Map<string, Followed>();
  /** The Computers that could be asked at the last change. */
  #reached: ReadonlySet<string> = new Set();
  readonly #ending = new AbortController();
  #unlisten: (() => void) | undefined;

  /** @param onUpdated Called when a resource has changed, or may have. */
  constructor(
    view: OfficeView,
    { logger, onUpdated }: {
      readonly logger: Logger;
      readonly onUpdated: (clientUri: string, computer: string) => void;
    },
  ) {
    this.#view = view;
    this.#log = logger;
    this.#onUpdated = onUpdated;
    view.onChange((change) => this.#onChange(change));
  }

  /**
   * Follows a resource until the returned function is called. The subscription stands when the promise resolves, on a
   * Computer that supports it and answers within five seconds.
   *
   * @throws {RangeError} when there are too many.
   */
  async follow(
    clientUri: string,
    address: ResourceAddress,
    { follower = new Follower() }: { readonly follower?: Follower } = {},
  ): Promise<() => void> {
    const known = this.#followed.get(keyOf(address));
    const problem = this.#refusal(follower, { isNew: known === undefined });
    if (problem !== undefined) {
      throw new RangeError(`Cannot subscribe to ${toSeenLine(clientUri)}: ${problem}`);
    }
    const followed = known ??
      { address, holders: new Map(), isExact: false, isRefused: false, subscribing: Promise.resolve() };
    follower.count++;
    followed.holders.set(clientUri, (followed.holders.get(clientUri) ?? 0) + 1);
    this.#followed.set(keyOf(address), followed);
    if (known === undefined) void this.#subscribe(followed);
    await settledWithin(followed.subscribing, PATIENCE_MS);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      follower.count--;
      this.#release(clientUri, followed);
    };
  }

  /** Why a client gets no further subscription: whoever takes all leaves some for the others. */
  #refusal({ count }: Follower, { isNew }: { readonly isNew: boolean }): string | undefined {
    if (count >= MAX_OF_ONE_CLIENT) return `this client has ${count} subscriptions already`;
    const limit = count < FEW ? MAX_SUBSCRIPTIONS : MAX_SUBSCRIPTIONS - RESERVED;
    const { size } = this.#followed;
    return isNew && size >= limit ? `there are ${size} subscriptions already` : undefined;
  }

  /** Follows nothing any more. Nothing is asked of an office that may be about to be left: its Computers notice. */
  close(): void {
    this.#ending.abort();
    this.#unlisten?.();
    this.#followed.clear();
  }

  #subscribe(followed: Followed): Promise<void> {
    return followed.subscribing = this.#request(followed);
  }

  /** Never rejects. */
  async #request(followed: Followed): Promise<void> {
    const { office } = this.#view;
    const { computer, mcpServer, uri } = followed.address;
    const { signal } = this.#ending;
    if (office === undefined || signal.aborted || !this.#view.isReachable(computer)) return;
    this.#listen(office);
    try {
      await office.computer(computer).subscribeResource(uri, { mcpServer, signal });
      followed.isExact = true;
      followed.isRefused = false;
    } catch (error) {
      followed.isExact = false;
      followed.isRefused = isForbidden(error);
      this.#log.debug("no subscription to a single resource", { computer, uri, error: describeError(error) });
    }
  }

  /** While there is this listener, the Agent fetches what has changed. */
  #listen(office: Office): void {
    this.#unlisten ??= office.on("resourcesUpdated", ({ computer, updates }) => {
      const changed = new Set(updates.map(({ uri }) => uri));
      this.#tell(({ address }) => address.computer === computer && changed.has(address.uri));
    });
  }

  #release(clientUri: string, followed: Followed): void {
    const { holders, address } = followed;
    const left = (holders.get(clientUri) ?? 0) - 1;
    if (left > 0) return void holders.set(clientUri, left);
    holders.delete(clientUri);
    if (holders.size > 0) return;
    this.#followed.delete(keyOf(address));
    // A subscription that is still being made, such as after a reconnection, ends when it stands.
    void followed.subscribing.then(() => this.#unsubscribeFrom(followed));
  }

  #unsubscribeFrom({ address, isExact }: Followed): void {
    const { computer, mcpServer, uri } = address;
    const { office } = this.#view;
    const { signal } = this.#ending;
    const isFollowedAgain = this.#followed.has(keyOf(address));
    if (isFollowedAgain || !isExact || office === undefined) return;
    if (signal.aborted || !this.#view.isReachable(computer)) return;
    office.computer(computer).unsubscribeResource(uri, { mcpServer, signal }).catch((error) => {
      this.#log.debug("subscription not ended", { computer, uri, error: describeError(error) });
    });
  }

  #onChange(change: OfficeChange): void {
    if (change.kind === "windows") this.#tellCoarse(change.computer, hasWindowScheme);
    if (change.kind === "documents") this.#tellCoarse(change.computer, hasDpeScheme);
    if (change.kind === "resources") this.#renewRefused(change.computer);
    if (change.kind === "members" || change.kind === "connection") this.#renew();
  }

  /** A Computer that does not tell of single resources tells of all its windows, or of all its documents. */
  #tellCoarse(computer: string, isConcerned: (uri: string) => boolean): void {
    this.#tell(({ address, isExact }) =>
      !isExact && address.computer === computer && isConcerned(address.uri)
    );
  }

  /** A Computer that gives its resources again says that they have changed. */
  #renewRefused(computer: string): void {
    for (const followed of this.#followed.values()) {
      if (!followed.isRefused || followed.address.computer !== computer) continue;
      void this.#subscribe(followed).then(() => followed.isRefused ? undefined : this.#tellHolders(followed));
    }
  }

  /** Subscriptions end with either connection, and changes meanwhile were missed. */
  #renew(): void {
    const names = this.#view.computers.map(({ name }) => name).filter((name) => this.#view.isReachable(name));
    const before = this.#reached;
    this.#reached = new Set(names);
    for (const followed of this.#followed.values()) {
      const { computer } = followed.address;
      if (before.has(computer) || !this.#reached.has(computer)) continue;
      void this.#subscribe(followed).then(() => this.#tellHolders(followed));
    }
  }

  #tell(isConcerned: (followed: Followed) => boolean): void {
    for (const followed of this.#followed.values()) if (isConcerned(followed)) this.#tellHolders(followed);
  }

  #tellHolders({ holders, address }: Followed): void {
    for (const clientUri of holders.keys()) this.#onUpdated(clientUri, address.computer);
  }
}

/** One resource has one key, whatever URIs clients use for it. */
function keyOf({ computer, mcpServer, uri }: ResourceAddress): string {
  return JSON.stringify([computer, mcpServer, uri]);
}

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
