/**
 * What was called and read, for the owner of the Computer; and the servers of calls, for the order of windows and documents.
 */
import { fitsApproximately, isRecord } from "../../json/json.ts";
import { shorten } from "../../text/text.ts";
import { isSecretName, MASK } from "../secrets/masking.ts";
import type { ToolCaller, ToolCallRecord } from "../shared/computer_events.ts";
import { MAX_KEPT_NAME_LENGTH } from "./refusals.ts";

/** The most calls that are kept, and the most reads. */
const MAX_RECORDS = 1_000;
/** How long after a read another one of the same belongs to it, in milliseconds. */
const SAME_READ_MS = 300_000;
/** The calls that count for the order of windows and documents. */
const MAX_SERVERS = 100;
/** The most characters of what was read. */
const MAX_READ_NAME_LENGTH = 1_024;
/** The most characters of the arguments of a call that are kept. */
const MAX_ARGUMENTS_LENGTH = 4_096;
/** The length that is searched for secrets before a text is cut; secrets are shorter. */
const MAX_READ_LENGTH = 20_000;

/** A call as it is kept: its arguments are masked when they are read, by the secrets that are known then. */
type KeptCall = Omit<ToolCallRecord, "arguments"> & { readonly params: unknown };

/** A read by an Agent. */
export interface AgentRead extends ToolCaller {
  /** See {@linkcode ToolCallRecord.read}. */
  readonly read: string;
  readonly server: string | undefined;
}

/** The last 1,000 tool calls and the last 1,000 reads, oldest first. */
export class ToolCallHistory {
  readonly #redact: (text: string) => string;
  readonly #calls: KeptCall[] = [];
  /** Kept apart, so that reads push no call out. */
  readonly #reads: KeptCall[] = [];
  #lastId = 0;
  /**
   * The servers of the last 100 calls that reached one, oldest first, one entry for each call. Kept apart from the records,
   * so that refused calls push no server out.
   */
  servers: readonly string[] = [];

  /** @param redact Removes known secrets from a text. */
  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  push(
    call: Omit<ToolCallRecord, "id" | "arguments" | "isCut">,
    params: Readonly<Record<string, unknown>>,
  ): void {
    const isCut = !fitsApproximately(params, MAX_ARGUMENTS_LENGTH);
    const kept = isCut ? this.#cut(params, { left: MAX_ARGUMENTS_LENGTH }) : params;
    this.#calls.push({ ...call, id: ++this.#lastId, isCut, params: kept });
    if (this.#calls.length > MAX_RECORDS) this.#calls.shift();
    if (call.server !== undefined) this.servers = [...this.servers, call.server].slice(-MAX_SERVERS);
  }

  /** Keeps a read, and returns its record: another one, or the one that it goes on. */
  pushRead(given: AgentRead, nowMs: number = Date.now()): ToolCallRecord {
    const nameOf = (text: string | undefined) => text && shorten(this.#redact(text), MAX_KEPT_NAME_LENGTH);
    const read = shorten(this.#redact(given.read), MAX_READ_NAME_LENGTH);
    const [agent, client, server] = [given.agent, given.client, given.server].map(nameOf);
    const index = this.#reads.findLastIndex((each) =>
      each.read === read && each.agent === agent && each.client === client && each.server === server &&
      nowMs - each.startedAt.getTime() - each.durationMs < SAME_READ_MS
    );
    const [before] = index === -1 ? [] : this.#reads.splice(index, 1);
    const id = ++this.#lastId;
    const { callId = `r${id}`, startedAt = new Date(nowMs), reads = 0 } = before ?? {};
    const fixed = { tool: "", outcome: "ok", errorCode: undefined, isCut: false, params: {} } as const;
    const durationMs = nowMs - startedAt.getTime();
    const by = { reqId: given.reqId, agent, client, server };
    const kept = { ...by, ...fixed, id, callId, read, reads: reads + 1, startedAt, durationMs };
    this.#reads.push(kept);
    if (this.#reads.length > MAX_RECORDS) this.#reads.shift();
    return this.#toRecord(kept);
  }

  get records(): ToolCallRecord[] {
    return [...this.#calls, ...this.#reads].sort((one, other) => one.id - other.id)
      .map((call) => this.#toRecord(call));
  }

  /** The call that has ended last. */
  get last(): ToolCallRecord | undefined {
    const call = this.#calls.at(-1);
    return call && this.#toRecord(call);
  }

  #toRecord({ params, ...call }: KeptCall): ToolCallRecord {
    const text = this.#redact(JSON.stringify(params, maskNamed) ?? "");
    return { ...call, arguments: shorten(text, MAX_ARGUMENTS_LENGTH) };
  }

  /** A copy with the first texts and members. Redacts before it cuts: a piece of a secret could not be recognized. */
  #cut(value: unknown, room: { left: number }): unknown {
    if (typeof value === "string") {
      const text = value.length > room.left
        ? shorten(this.#redact(value.slice(0, room.left + MAX_READ_LENGTH)), room.left)
        : value;
      room.left -= text.length;
      return text;
    }
    room.left -= 4;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) {
        if (room.left <= 0) break;
        items.push(this.#cut(item, room));
      }
      return items;
    }
    if (!isRecord(value)) return value;
    const members: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      if (key.length >= room.left) break;
      room.left -= key.length;
      members.push([key, this.#cut(member, room)]);
    }
    return Object.fromEntries(members);
  }
}

/** Hides a value whose name says that it is a secret. */
function maskNamed(key: string, value: unknown): unknown {
  const isValue = typeof value === "string" || typeof value === "number";
  return isValue && isSecretName(key) ? MASK : value;
}
