/**
 * Quotas: what all connections of one principal, or of one address, may use together on this process. What exceeds a limit
 * is answered 429, with the limit, the option that sets it or its name, and the time to wait where waiting helps.
 */
import { BoundedMap } from "../../async/bounded_collections.ts";
import { type Rate, TokenBucket } from "../../async/token_bucket.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { CANCEL_TOOL_CALL_EVENT, FOLLOW_CALL_EVENT } from "../../protocol/events.ts";
import type { SmcpError } from "../../protocol/errors.ts";
import type { MessageOwner } from "../engine/budget.ts";
import { optionLabel } from "../options/checks.ts";
import { LoggedRefusal } from "../observe/logs.ts";
import type { Refusal } from "../observe/meter.ts";
import { addressKey } from "../../http/proxies.ts";
import { quoted } from "../../text/text.ts";

/** The most quotas that are kept while nothing uses them, of principals and of addresses each. */
export const MAX_IDLE_QUOTAS = 4_096;

export type QuotaOwner = "principal" | "address";

/** `Infinity`, or `undefined` for a rate, where any number is allowed. */
export interface QuotaLimits {
  readonly connections: number;
  /** New connections. */
  readonly connects: Rate | undefined;
  /** Events, of a principal only. */
  readonly requests?: Rate | undefined;
}

export interface QuotaSettings extends Readonly<Record<QuotaOwner, QuotaLimits>> {
  /** Whose incomplete messages share a part of the memory. */
  readonly messages: QuotaOwner;
}

/** What is counted of each owner, by the name in its options. */
const COUNTED = { Connections: "connections", Connects: "new connections", Requests: "requests" } as const;

/** What one principal, or one address, uses. */
class Quota implements MessageOwner {
  connections = 0;
  incompleteBytes = 0;
  readonly #owner: QuotaOwner;
  readonly #maxConnections: number;
  readonly #connects: TokenBucket | undefined;
  /** Limits its events; `undefined` for any number. */
  readonly requests: TokenBucket | undefined;
  /** What belongs to a call is limited apart: questions for progress come before it, and a cancel has to reach it. */
  readonly #besides: ReadonlyMap<string, TokenBucket>;

  constructor(owner: QuotaOwner, { connections, connects, requests }: QuotaLimits) {
    this.#owner = owner;
    this.#maxConnections = connections;
    this.#connects = connects && new TokenBucket(connects);
    this.requests = requests && new TokenBucket(requests);
    this.#besides = new Map(
      requests &&
        [FOLLOW_CALL_EVENT, CANCEL_TOOL_CALL_EVENT].map((event) => [event, new TokenBucket(requests)]),
    );
  }

  requireConnection(): void {
    if (this.connections >= this.#maxConnections) throw this.#refuse("connect", "Connections");
  }

  takeConnect(): void {
    if (this.#connects?.take() === false) throw this.#refuse("connect", "Connects", this.#connects);
  }

  takeRequest(event: string): LoggedRefusal | undefined {
    const bucket = this.#besides.get(event) ?? this.requests;
    return bucket?.take() === false
      ? this.#refuse(`handle "${quoted(event)}"`, "Requests", bucket)
      : undefined;
  }

  /** @param intent What cannot be done, such as `connect`. */
  #refuse(intent: string, counted: keyof typeof COUNTED, bucket?: TokenBucket): LoggedRefusal {
    const option = `max${counted}Per${this.#owner === "principal" ? "Principal" : "Address"}` as const;
    const limit = bucket?.rate.perSecond ?? this.#maxConnections;
    const wait = bucket && { retry_after_ms: bucket.waitMs() };
    const advice = wait === undefined
      ? "Close other connections, or ask the operator for a higher limit"
      : `Try again in ${wait.retry_after_ms} ms`;
    const message = `Cannot ${intent}: too many ${COUNTED[counted]} of this ${this.#owner}, the limit is ` +
      `${limit}${bucket === undefined ? "" : " a second"} by ${optionLabel(option)}. ${advice}`;
    return new LoggedRefusal(ErrorCode.TOO_MANY_REQUESTS, message, { details: { limit, option, ...wait } });
  }
}

/**
 * The quotas of all principals, or addresses. One without connections is kept for a while, so that a client cannot get a
 * new allowance by disconnecting.
 */
class QuotaTable {
  readonly #create: () => Quota;
  readonly #used = new Map<string, Quota>();
  /** In order of their last use. */
  readonly #idle = new BoundedMap<string, Quota>(MAX_IDLE_QUOTAS);

  constructor(owner: QuotaOwner, limits: QuotaLimits) {
    this.#create = () => new Quota(owner, limits);
  }

  get(key: string): Quota {
    return this.#used.get(key) ?? this.#keep(key, this.#idle.get(key) ?? this.#create());
  }

  /** Adds a connection, or removes one with -1. */
  count(key: string, change: 1 | -1): void {
    const quota = this.get(key);
    quota.connections += change;
    this.#keep(key, quota);
  }

  #keep(key: string, quota: Quota): Quota {
    this.#used.delete(key);
    this.#idle.delete(key);
    (quota.connections > 0 ? this.#used : this.#idle).set(key, quota);
    return quota;
  }
}

/** What a connection uses together with others. */
export interface Quotas extends Readonly<Record<QuotaOwner, Quota>> {
  /** Whose incomplete messages its own count with. */
  readonly messages: MessageOwner;
}

export class QuotaLedger {
  readonly #messages: QuotaOwner;
  readonly #principals: QuotaTable;
  readonly #addresses: QuotaTable;

  constructor({ principal, address, messages }: QuotaSettings) {
    this.#messages = messages;
    this.#principals = new QuotaTable("principal", principal);
    this.#addresses = new QuotaTable("address", address);
  }

  /** @throws {LoggedRefusal} 429 when the address makes too many connections, or has too many. */
  countConnect(address: string | undefined): void {
    const quota = this.#addresses.get(addressKey(address));
    quota.requireConnection();
    quota.takeConnect();
  }

  /**
   * Counts a connection until `close` is called, once.
   *
   * @throws {LoggedRefusal} 429 when the principal or the address has too many.
   */
  open(
    { principal, address }: { readonly principal: string; readonly address: string | undefined },
  ): { readonly quotas: Quotas; readonly close: () => void } {
    const key = addressKey(address);
    const owners = { principal: this.#principals.get(principal), address: this.#addresses.get(key) };
    const quotas = { ...owners, messages: owners[this.#messages] };
    quotas.address.requireConnection();
    quotas.principal.requireConnection();
    quotas.principal.takeConnect();
    const count = (change: 1 | -1) => {
      this.#principals.count(principal, change);
      this.#addresses.count(key, change);
    };
    count(1);
    return { quotas, close: () => count(-1) };
  }
}

/** The name of a 429 at connecting, for the metrics. */
export function refusalOf({ details }: SmcpError): Refusal {
  return details?.["retry_after_ms"] === undefined ? "connection_limit" : "connect_rate";
}
