/** How often strangers may ask the hub for something before they are authorized: by address, and all together. */
import { BoundedMap } from "../async/bounded_collections.ts";
import { type Rate, rateOf, TokenBucket } from "../async/token_bucket.ts";
import { addressKey } from "../http/address_key.ts";

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
} as const satisfies Readonly<Record<string, Rate>>;
/** How much more all addresses together may ask for. */
const ALL_TOGETHER = 20;
/** The most addresses that are counted; the one that has asked for nothing for longest gives way. */
const MAX_ADDRESSES = 4_096;

export type Asked = keyof typeof RATES;

export class HubQuotas {
  /** By what is asked for and the address. */
  readonly #buckets = new BoundedMap<string, TokenBucket>(MAX_ADDRESSES);
  readonly #together = new Map<Asked, TokenBucket>();
  readonly #now: (() => number) | undefined;

  constructor(now?: () => number) {
    this.#now = now;
  }

  /** Counts one more; returns how many seconds to wait when it is too much, rounded up. */
  take(asked: Asked, address: string | undefined): number | undefined {
    const own = this.#bucketOf(asked, address);
    const together = this.#together.get(asked) ?? this.#create(asked, ALL_TOGETHER);
    this.#together.set(asked, together);
    const waitMs = Math.max(own.waitMs(), together.waitMs());
    if (waitMs > 0) return Math.ceil(waitMs / 1_000);
    own.take();
    together.take();
    return undefined;
  }

  #bucketOf(asked: Asked, address: string | undefined): TokenBucket {
    const key = `${asked} ${addressKey(address)}`;
    const bucket = this.#buckets.get(key) ?? this.#create(asked, 1);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #create(asked: Asked, times: number): TokenBucket {
    const { burst, perSecond } = RATES[asked];
    return new TokenBucket({ burst: burst * times, perSecond: perSecond * times }, this.#now);
  }
}
