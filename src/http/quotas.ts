/** How often strangers may ask for something before they are authorized: by address, by network, and all together. */
import { BoundedMap, BoundedSet } from "../async/bounded_collections.ts";
import { type Rate, rateOf, TokenBucket } from "../async/token_bucket.ts";
import { addressKey, networkKey } from "./proxies.ts";

const MINUTE_MS = 60_000;
/** What one address may ask for in a minute. */
const RATES = {
  register: rateOf(20, MINUTE_MS),
  authorize: rateOf(60, MINUTE_MS),
  token: rateOf(120, MINUTE_MS),
  /** Metadata documents that are fetched for it. */
  document: rateOf(20, MINUTE_MS),
  /** Wrong codes and tokens of people who consent. */
  guess: rateOf(10, MINUTE_MS),
  /** Machines that ask to join by code, and that ask whether they were approved. */
  join: rateOf(10, MINUTE_MS),
  machine: rateOf(240, MINUTE_MS),
} as const satisfies Readonly<Record<string, Rate>>;
/** How much more the addresses of one network may ask for, and how much more all together. */
const OF_NETWORK = 4;
const ALL_TOGETHER = 20;
/** The most addresses and networks that are counted; the one that has asked for nothing for longest gives way. */
const MAX_COUNTED = 8_192;
/** The most networks that are known to be used by a client with a grant. */
const MAX_KNOWN = 1_024;

export type Asked = keyof typeof RATES;

export class StrangerQuotas {
  /** By what is asked for and by whom. */
  readonly #buckets = new BoundedMap<string, TokenBucket>(MAX_COUNTED);
  readonly #known = new BoundedSet<string>(MAX_KNOWN);
  readonly #now: (() => number) | undefined;

  constructor(now?: () => number) {
    this.#now = now;
  }

  /** Somebody at this address has consented, or has a good token: all strangers together cannot use up what its network has. */
  know(address: string | undefined): void {
    this.#known.add(networkKey(address));
  }

  /** Counts one more; returns how many seconds to wait when it is too much, rounded up. */
  take(asked: Asked, address: string | undefined): number | undefined {
    const network = networkKey(address);
    // An address is counted only where its network has something left: no network can make the counts of others forgotten.
    const buckets: TokenBucket[] = [];
    for (
      const [whose, times] of [
        [this.#known.has(network) ? "known" : "strangers", ALL_TOGETHER],
        [`network ${network}`, OF_NETWORK],
        [`address ${addressKey(address)}`, 1],
      ] as const
    ) {
      const bucket = this.#bucketOf(asked, whose, times);
      const waitMs = bucket.waitMs();
      if (waitMs > 0) return Math.ceil(waitMs / 1_000);
      buckets.push(bucket);
    }
    for (const bucket of buckets) bucket.take();
    return undefined;
  }

  #bucketOf(asked: Asked, whose: string, times: number): TokenBucket {
    const key = `${asked} ${whose}`;
    const { burst, perSecond } = RATES[asked];
    const bucket = this.#buckets.get(key) ??
      new TokenBucket({ burst: burst * times, perSecond: perSecond * times }, this.#now);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
