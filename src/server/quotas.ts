/**
 * Quotas: what all connections of one principal, or of one address, may use together on this process. A limit that is
 * exceeded is answered 429, with the limit, the option that sets it, and the time to wait where waiting helps.
 */
import { type Rate, TokenBucket } from "../async/token_bucket.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { addressKey } from "./admission/address_ledger.ts";
import { MAX_IDLE_QUOTAS, quoted } from "./limits.ts";
import type { MessageOwner } from "./message_shares.ts";
import type { Refusal } from "./observe/meter.ts";
import { type NumberOption, optionLabel } from "./number_options.ts";

export type QuotaOwner = "principal" | "address";

export interface QuotaLimits {
  /** Open connections; `Infinity` for any number. */
  readonly connections: number;
  /** New connections; `undefined` for any number. */
  readonly connects: Rate | undefined;
  /** Events; `undefined` for any number. */
  readonly requests: Rate | undefined;
}

export interface QuotaSettings {
  readonly principal: QuotaLimits;
  readonly address: QuotaLimits;
  /** Offices with members on this process; `Infinity` for any number. */
  readonly offices: number;
  /** The same for each principal. */
  readonly officesPerPrincipal: number;
  /** Whose incomplete messages share a part of the memory. */
  readonly messages: QuotaOwner;
}

class Quota implements MessageOwner {
  connections = 0;
  incompleteBytes = 0;
  readonly connects: TokenBucket | undefined;
  readonly requests: TokenBucket | undefined;
  readonly offices = new OfficeCounts();

  constructor({ connects, requests }: QuotaLimits) {
    this.connects = connects && new TokenBucket(connects);
    this.requests = requests && new TokenBucket(requests);
  }

  get isIdle(): boolean {
    return this.connections === 0 && this.offices.size === 0;
  }
}

class OfficeCounts {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  get(officeId: string): number {
    return this.#counts.get(officeId) ?? 0;
  }

  add(officeId: string): void {
    this.#counts.set(officeId, this.get(officeId) + 1);
  }

  remove(officeId: string): void {
    const count = this.get(officeId) - 1;
    if (count > 0) this.#counts.set(officeId, count);
    else this.#counts.delete(officeId);
  }
}

/**
 * The quotas by principal or address. One that nothing uses is kept for a while, so that a client cannot get a new budget by
 * disconnecting.
 */
class QuotaTable {
  readonly #limits: QuotaLimits;
  readonly #quotas = new Map<string, Quota>();
  readonly #idle = new Set<string>();

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  find(key: string): Quota | undefined {
    return this.#quotas.get(key);
  }

  open(key: string): Quota {
    this.#idle.delete(key);
    const known = this.#quotas.get(key);
    if (known !== undefined) return known;
    const quota = new Quota(this.#limits);
    this.#quotas.set(key, quota);
    return quota;
  }

  /** To be called when a quota may have become idle. */
  settle(key: string): void {
    const quota = this.#quotas.get(key);
    if (quota === undefined || !quota.isIdle) return;
    this.#idle.delete(key);
    this.#idle.add(key);
    if (this.#idle.size <= MAX_IDLE_QUOTAS) return;
    const [oldest = key] = this.#idle;
    this.#idle.delete(oldest);
    this.#quotas.delete(oldest);
  }
}

export interface Quotas {
  readonly principal: Quota;
  readonly address: Quota;
}

export class QuotaLedger {
  readonly #settings: QuotaSettings;
  readonly #principals: QuotaTable;
  readonly #addresses: QuotaTable;
  readonly #offices = new OfficeCounts();
  readonly #isPaced: boolean;

  constructor(settings: QuotaSettings) {
    const { principal, address } = this.#settings = settings;
    this.#principals = new QuotaTable(principal);
    this.#addresses = new QuotaTable(address);
    this.#isPaced = principal.requests !== undefined || address.requests !== undefined;
  }

  /** @throws {SmcpError} 429 when the address makes too many connections, or has too many. */
  countConnect(address: string | undefined): void {
    const key = addressKey(address);
    const quota = this.#addresses.open(key);
    try {
      this.#requireConnection("address", quota);
      this.#requireConnect("address", quota);
    } finally {
      this.#addresses.settle(key);
    }
  }

  /**
   * Counts a connection until `close` is called, once.
   *
   * @throws {SmcpError} 429 when the principal or the address has too many.
   */
  open(
    { principal, address }: { readonly principal: string; readonly address: string | undefined },
  ): { readonly quotas: Quotas; readonly close: () => void } {
    const key = addressKey(address);
    const quotas = { principal: this.#principals.open(principal), address: this.#addresses.open(key) };
    const settle = () => {
      this.#principals.settle(principal);
      this.#addresses.settle(key);
    };
    try {
      this.#requireConnection("address", quotas.address);
      this.#requireConnection("principal", quotas.principal);
      this.#requireConnect("principal", quotas.principal);
    } catch (error) {
      settle();
      throw error;
    }
    quotas.principal.connections++;
    quotas.address.connections++;
    const close = () => {
      quotas.principal.connections--;
      quotas.address.connections--;
      settle();
    };
    return { quotas, close };
  }

  messageOwner(quotas: Quotas): MessageOwner {
    return quotas[this.#settings.messages];
  }

  countRequest(event: string, quotas: Quotas | undefined): SmcpError | undefined {
    if (!this.#isPaced || quotas === undefined) return undefined;
    return this.#refuseRequest(event, "principal", quotas.principal) ??
      this.#refuseRequest(event, "address", quotas.address);
  }

  /**
   * Counts a member that joins an office. To be followed by {@linkcode QuotaLedger.leave} when it does not join, or leaves.
   *
   * @param leaving The office of the member, which it leaves for the other one.
   * @throws {SmcpError} 429 when there are too many offices.
   */
  join({ officeId, principal, leaving }: {
    readonly officeId: string;
    readonly principal: string;
    readonly leaving: string | undefined;
  }): void {
    const { offices: limit, officesPerPrincipal } = this.#settings;
    const own = this.#principals.open(principal).offices;
    const hasCapacity = (counts: OfficeCounts, limit: number) => {
      const isEnding = leaving !== undefined && counts.get(leaving) === 1;
      return counts.get(officeId) > 0 || counts.size - (isEnding ? 1 : 0) < limit;
    };
    const refuse = (whose: string, limit: number, option: NumberOption) =>
      tooMany(`join office "${officeId}"`, {
        what: `offices ${whose}, the limit is ${limit}`,
        option,
        limit,
        remedy: "Leave another office, or ask the operator for a higher limit",
      });
    if (!hasCapacity(own, officesPerPrincipal)) {
      throw refuse("with members of this principal", officesPerPrincipal, "maxOfficesPerPrincipal");
    }
    if (!hasCapacity(this.#offices, limit)) throw refuse("on this Server", limit, "maxOffices");
    own.add(officeId);
    this.#offices.add(officeId);
  }

  leave({ officeId, principal }: { readonly officeId: string; readonly principal: string }): void {
    this.#offices.remove(officeId);
    this.#principals.find(principal)?.offices.remove(officeId);
    this.#principals.settle(principal);
  }

  #requireConnection(owner: QuotaOwner, { connections }: Quota): void {
    const limit = this.#settings[owner].connections;
    if (connections < limit) return;
    throw tooMany("connect", {
      what: `connections of this ${owner}, the limit is ${limit}`,
      option: optionOf("Connections", owner),
      limit,
      remedy: "Close other connections, or ask the operator for a higher limit",
    });
  }

  #requireConnect(owner: QuotaOwner, { connects }: Quota): void {
    if (connects === undefined || connects.take()) return;
    throw tooFast("connect", {
      what: `new connections of this ${owner}`,
      pace: connects,
      option: optionOf("Connects", owner),
    });
  }

  #refuseRequest(event: string, owner: QuotaOwner, { requests }: Quota): SmcpError | undefined {
    if (requests === undefined || requests.take()) return undefined;
    return tooFast(`handle "${quoted(event)}"`, {
      what: `requests of this ${owner}`,
      pace: requests,
      option: optionOf("Requests", owner),
    });
  }
}

/** The name of a 429 at connecting, for the metrics. */
export function refusalOf({ details }: SmcpError): Refusal {
  return details?.["retry_after_ms"] === undefined ? "connection_limit" : "connect_rate";
}

function optionOf(what: "Connections" | "Connects" | "Requests", owner: QuotaOwner): NumberOption {
  return `max${what}Per${owner === "principal" ? "Principal" : "Address"}`;
}

/** @param intent What cannot be done, such as `connect`. */
function tooMany(intent: string, { what, option, limit, remedy }: {
  readonly what: string;
  readonly option: NumberOption;
  readonly limit: number;
  readonly remedy: string;
}): SmcpError {
  const message = `Cannot ${intent}: too many ${what} by ${optionLabel(option)}. ${remedy}`;
  return new SmcpError(ErrorCode.TOO_MANY_REQUESTS, message, { details: { limit, option } });
}

function tooFast(
  intent: string,
  { what, pace, option }: {
    readonly what: string;
    readonly pace: TokenBucket;
    readonly option: NumberOption;
  },
): SmcpError {
  const { perSecond: limit } = pace.rate;
  const retry_after_ms = pace.waitMs();
  const message =
    `Cannot ${intent}: too many ${what}, the limit is ${limit} a second by ${optionLabel(option)}. ` +
    `Try again in ${retry_after_ms} ms`;
  return new SmcpError(ErrorCode.TOO_MANY_REQUESTS, message, { details: { limit, option, retry_after_ms } });
}
