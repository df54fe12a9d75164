/**
 * What was called and read, for the owner of the Computer; and the servers of calls, for the order of windows and documents.
 */
import { digestOfText, Digests } from "../../json/digest.ts";
import { fitsApproximately, isRecord } from "../../json/json.ts";
import { shorten } from "../../text/text.ts";
import { isSecretName, MASK } from "../secrets/masking.ts";
import type {
  AgentReadRecord,
  HistoryRecord,
  ToolCaller,
  ToolCallRecord,
} from "../shared/computer_events.ts";
import { MAX_KEPT_NAME_LENGTH } from "./refusals.ts";

/** The most calls that are kept, the most reads, and as many records of each that a pause refused. */
const MAX_RECORDS = 1_000;
/** How long after a read or a refused call another one of the same belongs to it, in milliseconds. */
const SAME_MS = 300_000;
/** The calls that count for the order of windows and documents. */
const MAX_SERVERS = 100;
/** The most characters of what was read, of a query, and of the URI of a document. */
const MAX_READ_NAME_LENGTH = 1_024;
/** The most documents of an answer that are kept. */
const MAX_DOCUMENTS = 20;
/** The most characters of the arguments of a call that are kept. */
const MAX_ARGUMENTS_LENGTH = 4_096;
/** The length that is searched for secrets before a text is cut; secrets are shorter. */
const MAX_READ_LENGTH = 20_000;

/** A call as it is kept: its arguments are masked when they are read, by the secrets that are known then. */
type KeptCall = Omit<ToolCallRecord, "arguments"> & { readonly params: unknown };

/** A call that has ended; one that never ran has no id of its own. */
export type EndedCall =
  & Omit<ToolCallRecord, "kind" | "id" | "callId" | "arguments" | "isCut" | "calls" | "lastAt">
  & { readonly callId?: string };

/** A read by an Agent. */
export interface AgentRead
  extends ToolCaller, Pick<AgentReadRecord, "read" | "query" | "server" | "outcome"> {
  /** The URIs of all documents of which the answer told. */
  readonly documents: readonly string[];
}

/** The last 1,000 tool calls and the last 1,000 reads, and apart from them as many of each that a pause refused. */
export class ToolCallHistory {
  readonly #redact: (text: string) => string;
  readonly #calls: KeptCall[] = [];
  /** Kept apart, so that reads push no call out. */
  readonly #reads: AgentReadRecord[] = [];
  /** Kept apart, so that they push nothing out that ran or was read. */
  readonly #refusedCalls: KeptCall[] = [];
  readonly #refusedReads: AgentReadRecord[] = [];
  readonly #digests = new Digests();
  #lastId = 0;
  #last: KeptCall | undefined;
  /**
   * The servers of the last 100 calls that reached one, oldest first, one entry for each call. Kept apart from the records,
   * so that refused calls push no server out.
   */
  servers: readonly string[] = [];

  /** @param redact Removes known secrets from a text. */
  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  /** Keeps a call; one that a pause refused goes on the record of the same one. */
  push(call: EndedCall, params: Readonly<Record<string, unknown>>): void {
    const id = ++this.#lastId;
    const lastAt = call.startedAt;
    const isRefused = call.outcome === "refused";
    const isCut = !fitsApproximately(params, MAX_ARGUMENTS_LENGTH);
    const kept = isCut ? this.#cut(params, { left: MAX_ARGUMENTS_LENGTH }) : params;
    const before = isRefused ? this.#takeSame(call, kept) : undefined;
    const { callId = `h${id}`, startedAt = lastAt, calls = 0 } = before ?? {};
    const times = { calls: calls + 1, startedAt, lastAt };
    this.#last = { kind: "call", callId, ...call, ...times, id, isCut, params: kept };
    pushBounded(isRefused ? this.#refusedCalls : this.#calls, this.#last);
    if (call.server !== undefined) this.servers = [...this.servers, call.server].slice(-MAX_SERVERS);
  }

  /** Removes the record of the same refused call, for one that goes on it. */
  #takeSame(call: EndedCall, params: unknown): KeptCall | undefined {
    const digest = digestOfText(JSON.stringify(params));
    return takeOut(this.#refusedCalls, (each) =>
      isRecent(each, call.startedAt) && isSameCall(each, call) &&
      this.#digests.of(each, each.params) === digest);
  }

  /** Keeps a read, and returns its record: another one, or the one that it goes on. */
  pushRead(given: AgentRead, nowMs: number = Date.now()): AgentReadRecord {
    const { reqId, outcome } = given;
    const nameOf = (text: string | undefined) => text && shorten(this.#redact(text), MAX_KEPT_NAME_LENGTH);
    const textOf = (text: string) => shorten(this.#redact(text), MAX_READ_NAME_LENGTH);
    const documents = given.documents.slice(0, MAX_DOCUMENTS).map(textOf);
    const same = {
      agent: nameOf(given.agent),
      client: nameOf(given.client),
      server: nameOf(given.server),
      read: textOf(given.read),
      query: given.query && textOf(given.query),
      documents,
      moreDocuments: given.documents.length - documents.length,
      outcome,
    };
    const id = ++this.#lastId;
    const lastAt = new Date(nowMs);
    const list = outcome === "refused" ? this.#refusedReads : this.#reads;
    const before = takeOut(list, (each) => isRecent(each, lastAt) && isSameRead(each, same));
    const { callId = `r${id}`, firstAt = lastAt, reads = 0 } = before ?? {};
    const kept = { kind: "read", id, callId, reqId, ...same, reads: reads + 1, firstAt, lastAt } as const;
    pushBounded(list, kept);
    return kept;
  }

  get records(): HistoryRecord[] {
    const calls = [...this.#calls, ...this.#refusedCalls].map((call) => this.#toRecord(call));
    return [...calls, ...this.#reads, ...this.#refusedReads]
      .sort((one, other) => one.id - other.id);
  }

  /** The call that has ended last. */
  get last(): ToolCallRecord | undefined {
    return this.#last && this.#toRecord(this.#last);
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

/** Adds a record, and drops the oldest one above the bound. */
function pushBounded<Kept>(records: Kept[], record: Kept): void {
  records.push(record);
  if (records.length > MAX_RECORDS) records.shift();
}

/** Removes the last record that fits, for one that goes on it. */
function takeOut<Kept>(records: Kept[], fits: (each: Kept) => boolean): Kept | undefined {
  const index = records.findLastIndex(fits);
  return index === -1 ? undefined : records.splice(index, 1)[0];
}

function isRecent({ lastAt }: { readonly lastAt: Date }, now: Date): boolean {
  return now.getTime() - lastAt.getTime() < SAME_MS;
}

function isSameCall(one: KeptCall, other: EndedCall): boolean {
  return (["tool", "agent", "client"] as const).every((key) => one[key] === other[key]);
}

type WhatWasRead = Omit<AgentReadRecord, "kind" | "id" | "callId" | "reqId" | "reads" | "firstAt" | "lastAt">;

const SCALARS = ["read", "query", "agent", "client", "server", "moreDocuments", "outcome"] as const;

/** Compares the documents last: a search compares with up to 1,000 records. */
function isSameRead(one: AgentReadRecord, other: WhatWasRead): boolean {
  return SCALARS.every((key) => one[key] === other[key]) &&
    one.documents.length === other.documents.length &&
    one.documents.every((uri, index) => uri === other.documents[index]);
}

/** Hides a value whose name says that it is a secret. */
function maskNamed(key: string, value: unknown): unknown {
  const isValue = typeof value === "string" || typeof value === "number";
  return isValue && isSecretName(key) ? MASK : value;
}
