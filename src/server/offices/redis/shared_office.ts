/** An office in Redis: its changes one after another, and the channel that tells of the changes of other processes. */
import { CHANGE_SCRIPT } from "./scripts.ts";
import type { RedisConnection } from "./connection.ts";
import type { RedisKeys } from "./keys.ts";
import { type CopyListener, type LeaveReason, NO_OFFICE, OfficeCopy } from "./office_copy.ts";
import { type Seat, writeSeat } from "./seat.ts";

/** How long Redis keeps what no process changes or keeps, an office or a session: a day. */
export const KEPT_MS = 86_400_000;

export interface OfficeContext {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly onNotice: (officeId: string, message: string) => void;
  /** Called with an error that no caller waits for. */
  readonly onError: (error: unknown) => void;
}

export interface WantedChange {
  /** Seats to remove, if their fence still is the same. */
  readonly removed?: readonly (readonly [seat: Seat, reason: LeaveReason])[];
  /** Seats to take; the change then needs the office to be as the copy has it. */
  readonly taken?: readonly Seat[];
  /** Redis must run for at least so long, in milliseconds; 0 by default. */
  readonly leastUptimeMs?: number;
}

/** The result of a change. After a conflict the copy is up to date. */
export type ChangeResult =
  | { readonly kind: "ok" }
  | { readonly kind: "conflict" }
  | { readonly kind: "settling"; readonly waitMs: number };

const CHANGE = "change ";
export const NOTICE = "notice ";

/** One office. While it is open, its copy follows Redis. */
export class SharedOffice {
  readonly officeId: string;
  readonly copy: OfficeCopy;
  readonly #context: OfficeContext;
  readonly #keys: readonly [office: string, channel: string];
  #tail: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #isOpen = false;

  constructor(officeId: string, context: OfficeContext & { readonly listener: CopyListener }) {
    this.officeId = officeId;
    this.#context = context;
    this.#keys = [context.keys.office(officeId), context.keys.officeChannel(officeId)];
    this.copy = new OfficeCopy(context.listener);
  }

  /** Runs operations one after another. The first one subscribes to the channel and reads the office. */
  run<T>(operation: () => Promise<T>): Promise<T> {
    return this.#enqueue(async () => {
      if (!this.#isOpen) await this.#open();
      return await operation();
    });
  }

  /** Ends the subscription if nobody uses the office; calls `onRetired` if no operation has been added meanwhile. */
  retire(isUsed: () => boolean, onRetired: () => void): void {
    this.#enqueue(async () => {
      if (this.#queued > 1 || isUsed()) return;
      if (this.#isOpen) await this.#context.redis.unsubscribe(this.#keys[1]);
      this.#isOpen = false;
      if (this.#queued === 1) onRetired();
    }).catch(this.#context.onError);
  }

  /** Reads the office, and returns whether the copy was out of date. To be called by an operation. */
  async refresh(): Promise<boolean> {
    const result = await this.#send(this.copy.version === "" ? "-" : this.copy.version, {});
    return result.kind === "conflict";
  }

  /** Makes Redis keep the office for another day; if it is gone, so is what the copy has. To be called by an operation. */
  async keep(): Promise<void> {
    const [office] = this.#keys;
    const isKept = await this.#context.redis.send(office, ["PEXPIRE", office, String(KEPT_MS)]) === 1;
    if (!isKept) await this.refresh();
  }

  /** Changes the office. To be called by an operation. */
  async change(wanted: WantedChange): Promise<ChangeResult> {
    const { taken = [] } = wanted;
    if (taken.length > 0 && this.copy.version === "") await this.refresh();
    return await this.#send(taken.length > 0 ? this.copy.version : "", wanted);
  }

  publish(message: string): Promise<unknown> {
    const { redis } = this.#context;
    const [, channel] = this.#keys;
    return redis.publish(channel, message);
  }

  #enqueue<T>(operation: () => Promise<T>): Promise<T> {
    this.#queued++;
    const result = this.#tail.then(operation).finally(() => this.#queued--);
    this.#tail = result.catch(() => {});
    return result;
  }

  async #open(): Promise<void> {
    await this.#context.redis.subscribe(this.#keys[1], (message) => this.#receive(message));
    await this.refresh();
    this.#isOpen = true;
  }

  async #send(
    expected: string,
    { removed = [], taken = [], leastUptimeMs = 0 }: WantedChange,
  ): Promise<ChangeResult> {
    const { redis } = this.#context;
    const [office, channel] = this.#keys;
    const reply = await redis.send(office, [
      "EVAL",
      CHANGE_SCRIPT,
      "2",
      office,
      channel,
      expected,
      String(leastUptimeMs),
      String(KEPT_MS),
      redis.publishCommand,
      String(removed.length),
      ...removed.flatMap(([{ member, fence }, reason]) => [member.sid, fence, reason]),
      ...taken.flatMap((seat) => [seat.member.sid, seat.place, writeSeat(seat)]),
    ]);
    return await this.#read(toTexts(reply));
  }

  async #read([kind, first = "", after = "", ...rest]: readonly Text[]): Promise<ChangeResult> {
    if (kind === "settling") return { kind, waitMs: Number(first) };
    if (kind === "conflict") {
      this.copy.replace(toFields(first));
      return { kind };
    }
    const change = { before: String(first), after: String(after), lines: toTexts(rest[0] ?? []).map(String) };
    if (change.before !== change.after && !this.copy.apply(change)) await this.refresh();
    return { kind: "ok" };
  }

  #receive(message: string): void {
    if (message.startsWith(CHANGE)) {
      return void this.#enqueue(() => this.#follow(message)).catch(this.#context.onError);
    }
    if (!message.startsWith(NOTICE)) return;
    // Behind the changes that came before it.
    if (this.#queued === 0) return this.#context.onNotice(this.officeId, message);
    this.#enqueue(() => {
      this.#context.onNotice(this.officeId, message);
      return Promise.resolve();
    }).catch(this.#context.onError);
  }

  async #follow(message: string): Promise<void> {
    if (!this.#isOpen) return;
    const [head = "", ...lines] = message.split("\n");
    const [, before = "", after = ""] = head.split(" ");
    if (!this.copy.apply({ before, after, lines })) await this.refresh();
  }
}

type Text = string | readonly Text[];

function toTexts(reply: unknown): readonly Text[] {
  if (Array.isArray(reply) && reply.every(isText)) return reply;
  throw new TypeError("Cannot read a reply of Redis: not a list of texts");
}

function isText(reply: unknown): reply is Text {
  return typeof reply === "string" || (Array.isArray(reply) && reply.every(isText));
}

function toFields(flat: Text): ReadonlyMap<string, string> {
  const fields = new Map<string, string>([["v", NO_OFFICE]]);
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(String(flat[at]), String(flat[at + 1]));
  return fields;
}
