/** An office in Redis: its changes one after another, and the channel that tells of the changes of other processes. */
import type { Member } from "../office.ts";
import type { RedisConnection } from "./connection.ts";
import { type CopyListener, type LeaveReason, NO_OFFICE, OfficeCopy } from "./office_copy.ts";
import type { Lease } from "./registration.ts";
import { CHANGE_SCRIPT, KEPT_MS, type RedisKeys, type Seat, writeSeat } from "./store.ts";

/**
 * A seat of a member that is connected to this process. A seat that is `joining` is `held` as soon as the copy of its office
 * shows it, whether the reply to the join or the office's channel tells of it first; otherwise it has `ended` when the join
 * is refused or has failed. A seat that is held ends by `leaving`, or because it was given away. Nothing comes after the end.
 */
export interface HeldSeat {
  readonly member: Member;
  readonly office: SharedOffice;
  state: "joining" | "held" | "leaving" | "ended";
  lease: Lease;
  /** Until then another process may be giving the seat to a newer connection, on the clock of `performance.now`. */
  evictedUntilMs: number;
}

export interface OfficeContext extends CopyListener {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  onNotice(officeId: string, message: string): void;
  /** Called when an office is closed, and nothing remains of it here. */
  onClosed(office: SharedOffice): void;
  /** Called with an error that no caller waits for. */
  onError(error: unknown): void;
}

export interface WantedChange {
  /** Seats to remove, if their fence still is the same. */
  readonly removed?: readonly (readonly [seat: Seat, reason: LeaveReason])[];
  /** Seats to take; the change then needs the office to be as the copy has it. */
  readonly taken?: readonly Seat[];
  /** Redis must run for at least so long, in milliseconds; 0 by default. */
  readonly leastUptimeMs?: number;
}

/** The result of a change: done, to be planned anew since the office was another one, or a time to wait. */
export type ChangeResult = "ok" | "conflict" | { readonly waitMs: number };

const CHANGE = "change ";
const NOTICE = "notice ";

/** One office. While it is open, its copy follows Redis; it is closed when nobody uses it. */
export class SharedOffice {
  readonly officeId: string;
  readonly copy: OfficeCopy;
  /** By `sid`. */
  readonly held = new Map<string, HeldSeat>();
  /** How many seats ended here without a word of Redis: it may still have them, until it was asked later than that. */
  unsettled = 0;
  readonly #context: OfficeContext;
  readonly #key: string;
  readonly #channel: string;
  #tail: Promise<unknown> = Promise.resolve();
  #users = 0;
  #isOpen = false;

  constructor(officeId: string, context: OfficeContext) {
    this.officeId = officeId;
    this.#context = context;
    this.#key = context.keys.office(officeId);
    this.#channel = context.keys.officeChannel(officeId);
    this.copy = new OfficeCopy(context);
  }

  /** Runs operations one after another. The first one subscribes to the channel and reads the office. */
  async use<T>(operation: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await this.#enqueue(async () => {
        if (!this.#isOpen) await this.#open();
        return await operation();
      });
    } finally {
      this.#users--;
      this.closeUnused();
    }
  }

  /** Ends the subscription unless somebody uses the office. */
  closeUnused(): void {
    const isUsed = () => this.#users > 0 || this.held.size > 0 || this.unsettled > 0;
    if (isUsed()) return;
    this.#enqueue(async () => {
      if (isUsed()) return;
      if (this.#isOpen) await this.#context.redis.unsubscribe(this.#channel);
      this.#isOpen = false;
      if (!isUsed()) this.#context.onClosed(this);
    }).catch(this.#context.onError);
  }

  /** Reads the office, and returns whether the copy was out of date. To be called by an operation. */
  async refresh(): Promise<boolean> {
    return await this.#send(this.copy.version === "" ? "-" : this.copy.version, {}) === "conflict";
  }

  /** Makes Redis keep the office for another day; if it is gone, so is what the copy has. To be called by an operation. */
  async keep(): Promise<void> {
    const reply = await this.#context.redis.send(this.#key, ["PEXPIRE", this.#key, String(KEPT_MS)]);
    if (reply !== 1) await this.refresh();
  }

  /** Changes the office. To be called by an operation. */
  async change(wanted: WantedChange): Promise<ChangeResult> {
    if (wanted.taken === undefined) return await this.#send("", wanted);
    if (this.copy.version === "") await this.refresh();
    return await this.#send(this.copy.version, wanted);
  }

  /** Sends a text to all processes that follow the office, this one as well. */
  async notify(text: string): Promise<void> {
    await this.#context.redis.publish(this.#channel, `${NOTICE}${text}`);
  }

  #enqueue<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(operation);
    this.#tail = result.catch(() => {});
    return result;
  }

  async #open(): Promise<void> {
    await this.#context.redis.subscribe(this.#channel, (message) => this.#receive(message));
    await this.refresh();
    this.#isOpen = true;
  }

  async #send(
    expected: string,
    { removed = [], taken = [], leastUptimeMs = 0 }: WantedChange,
  ): Promise<ChangeResult> {
    const { redis } = this.#context;
    const reply = await redis.send(this.#key, [
      "EVAL",
      CHANGE_SCRIPT,
      "2",
      this.#key,
      this.#channel,
      expected,
      String(leastUptimeMs),
      String(KEPT_MS),
      redis.publishCommand,
      String(removed.length),
      ...removed.flatMap(([{ member, fence }, reason]) => [member.sid, fence, reason]),
      ...taken.flatMap((seat) => [seat.member.sid, seat.place, writeSeat(seat)]),
    ]);
    const [kind, first = "", after = "", lines = []] = toTexts(reply);
    if (kind === "settling") return { waitMs: Number(first) };
    if (kind === "conflict") {
      this.copy.replace(toFields(first));
      return "conflict";
    }
    const change = { before: String(first), after: String(after), lines: toTexts(lines).map(String) };
    if (change.before !== change.after && !this.copy.apply(change)) await this.refresh();
    return "ok";
  }

  /** Handles a notification behind the changes that came before it. */
  #receive(message: string): void {
    this.#enqueue(async () => {
      if (message.startsWith(CHANGE)) await this.#follow(message);
      else if (message.startsWith(NOTICE)) {
        this.#context.onNotice(this.officeId, message.slice(NOTICE.length));
      }
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
