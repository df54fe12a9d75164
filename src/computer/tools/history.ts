/**
 * What was called and read, for the owner of the Computer; and the servers of calls, for the order of windows and documents.
 */
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

/** The most calls that are kept, and the most reads. */
const MAX_RECORDS = 1_000;
/** How long after a read another one of the same belongs to it, in milliseconds. */
const SAME_READ_MS = 300_000;
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
  & Omit<ToolCallRecord, "kind" | "id" | "callId" | "arguments" | "isCut">
  & { readonly callId?: string };

/** A read by an Agent. */
export interface AgentRead
  extends ToolCaller, Pick<AgentReadRecord, "read" | "query" | "server" | "outcome"> {
  /** The URIs of all documents of which the answer told. */
  readonly documents: readonly string[];
}

/** The last 1,000 tool calls and the last 1,000 reads, oldest first. */
export class ToolCallHistory {
  readonly #redact: (text: string) => string;
  readonly #calls: KeptCall[] = [];
  /** Kept apart, so that reads push no call out. */
  readonly #reads: AgentReadRecord[] = [];
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

  push(call: EndedCall, params: Readonly<Record<string, unknown>>): void {
    const id = ++this.#lastId;
    const isCut = !fitsApproximately(params, MAX_ARGUMENTS_LENGTH);
    const kept = isCut ? this.#cut(params, { left: MAX_ARGUMENTS_LENGTH }) : params;
    this.#calls.push({ kind: "call", callId: `h${id}`, ...call, id, isCut, params: kept });
    if (this.#calls.length > MAX_RECORDS) this.#calls.shift();
    if (call.server !== undefined) this.servers = [...this.servers, call.server].slice(-MAX_SERVERS);
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
    const index = this.#reads.findLastIndex((each) =>
      nowMs - each.lastAt.getTime() < SAME_READ_MS && isSame(each, same)
    );
    const [before] = index === -1 ? [] : this.#reads.splice(index, 1);
    const id = ++this.#lastId;
    const lastAt = new Date(nowMs);
    const { callId = `r${id}`, firstAt = lastAt, reads = 0 } = before ?? {};
    const kept = { kind: "read", id, callId, reqId, ...same, reads: reads + 1, firstAt, lastAt } as const;
    this.#reads.push(kept);
    if (this.#reads.length > MAX_RECORDS) this.#reads.shift();
    return kept;
  }

  get records(): HistoryRecord[] {
    return [...this.#calls.map((call) => this.#toRecord(call)), ...this.#reads]
      .sort((one, other) => one.id - other.id);
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

function isSame(read: AgentReadRecord, other: Partial<AgentReadRecord>): boolean {
  return Object.entries(other).every(([key, value]) =>
    JSON.stringify(read[key as keyof AgentReadRecord]) === JSON.stringify(value)
  );
}

/** Hides a value whose name says that it is a secret. */
function maskNamed(key: string, value: unknown): unknown {
  const isValue = typeof value === "string" || typeof value === "number";
  return isValue && isSecretName(key) ? MASK : value;
}
