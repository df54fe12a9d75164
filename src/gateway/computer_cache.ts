/** What each Computer of an office lists, kept until it tells of a change. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { settledWithin } from "../async/abortable.ts";
import { PatientLimiter } from "../async/limiter.ts";
import type { RemoteComputer } from "../agent/remote_computer.ts";
import { type EntryKind, toListEntry } from "../agent/toolkit/list_entries.ts";
import { MAX_CONCURRENT_COMPUTERS } from "../agent/toolkit/builtins/builtin.ts";
import { LATE_MS, type OfficeChange, type OfficeView } from "../agent/toolkit/office_view.ts";
import { isForbidden } from "../protocol/errors.ts";
import type { Logger } from "../log.ts";
import { toSeenError, toSeenName } from "../text/safe_text.ts";
import { describeError } from "../text/text.ts";

/** How long a list waits for a Computer that is slow, in milliseconds. */
const PATIENCE_MS = 5_000;
/** How long a list may be used when nobody tells of changes, in milliseconds. */
const MAX_AGE_MS = 60_000;

export interface ComputerCacheParts<Value> {
  readonly view: OfficeView;
  /** What is listed, for the log: `resources`. */
  readonly what: string;
  readonly fetch: (remote: RemoteComputer) => Promise<Value>;
  readonly changes: readonly OfficeChange["kind"][];
  /** Called when a Computer that was late has answered. */
  readonly onLate: (computer: string) => void;
  readonly logger: Logger;
}

interface Entry<Value> {
  readonly value: Value;
  readonly atMs: number;
}

/** A question to a Computer that is not answered yet. */
interface Pending {
  /** Resolves when the Computer has listed, or could not; to whether it has. Never rejects. */
  answered: Promise<boolean>;
  /** What came after the question: nothing, a change that the answer may not have, or the end of the Computer's stay. */
  overtakenBy: "nothing" | "change" | "leave";
  /** Whether somebody has waited for it long enough. */
  isToldLate: boolean;
}

/** Asks Computers for lists, each once at a time. A Computer that does not answer delays nobody: its old list serves. */
export class ComputerCache<Value> {
  readonly #parts: ComputerCacheParts<Value>;
  readonly #limiter = new PatientLimiter(MAX_CONCURRENT_COMPUTERS, LATE_MS);
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #pending = new Map<string, Pending>();
  /** The Computers whose last question was late, and has not been answered since. */
  readonly #late = new Set<string>();
  /** Why the Computers whose last question was refused give nothing, such as because their owner has paused them. */
  readonly #refusals = new Map<string, string>();

  constructor(parts: ComputerCacheParts<Value>) {
    this.#parts = parts;
    parts.view.onChange((change) => this.#onChange(change));
  }

  get kept(): Value[] {
    return [...this.#entries.values()].map(({ value }) => value);
  }

  /** The lists of these Computers, in their order. One that has never answered has none. */
  async get(computers: readonly string[]): Promise<Value[]> {
    const stale = computers.filter((name) => !this.#isFresh(name));
    const answers = stale.map((name) => this.#refresh(name));
    // Nobody waits twice for a Computer that does not answer.
    const awaited = answers.filter((_, index) => !this.#late.has(stale[index] ?? ""));
    if (awaited.length > 0) await settledWithin(Promise.all(awaited), PATIENCE_MS);
    for (const name of stale) this.#tellLate(name);
    return computers.flatMap((name) => this.#entries.get(name)?.value ?? []);
  }

  /**
   * The same, for a list that would else look as if there were nothing.
   *
   * @throws {ProtocolError} when there is no list, and a Computer has refused one.
   */
  async insist(computers: readonly string[]): Promise<Value[]> {
    const lists = await this.get(computers);
    const refusals = computers.flatMap((name) => this.#refusals.get(name) ?? []);
    if (lists.length > 0 || refusals.length === 0) return lists;
    throw new ProtocolError(ProtocolErrorCode.InternalError, refusals.join("; "));
  }

  /** One that fails late is not told: clients would list again for nothing. */
  #tellLate(computer: string): void {
    const pending = this.#pending.get(computer);
    if (pending === undefined || pending.isToldLate) return;
    pending.isToldLate = true;
    this.#late.add(computer);
    void pending.answered.then((isListed) => {
      if (isListed) this.#parts.onLate(computer);
    });
  }

  #isFresh(computer: string): boolean {
    const entry = this.#entries.get(computer);
    return entry !== undefined && performance.now() - entry.atMs < MAX_AGE_MS;
  }

  #onChange(change: OfficeChange): void {
    const { view, changes } = this.#parts;
    if (change.kind === "members") {
      for (const name of this.#entries.keys()) if (!view.has(name)) this.#entries.delete(name);
      for (const [name, pending] of this.#pending) if (!view.has(name)) pending.overtakenBy = "leave";
      for (const name of this.#late) if (!view.has(name)) this.#late.delete(name);
      for (const name of this.#refusals.keys()) if (!view.has(name)) this.#refusals.delete(name);
    } else if (change.kind === "connection") {
      for (const name of [...this.#entries.keys(), ...this.#pending.keys()]) this.#expire(name);
    } else if ("computer" in change && changes.includes(change.kind)) {
      this.#expire(change.computer);
    }
  }

  /** The old list stays, for a Computer that does not answer. */
  #expire(computer: string): void {
    const entry = this.#entries.get(computer);
    if (entry !== undefined) this.#entries.set(computer, { ...entry, atMs: -Infinity });
    const pending = this.#pending.get(computer);
    if (pending?.overtakenBy === "nothing") pending.overtakenBy = "change";
  }

  /** A question that was overtaken is not shared: whoever asks after a change gets a list from after it. */
  #refresh(computer: string): Promise<boolean> {
    const running = this.#pending.get(computer);
    if (running?.overtakenBy === "nothing") return running.answered;
    if (running !== undefined) return running.answered.then(() => this.#refresh(computer));
    const pending: Pending = { answered: Promise.resolve(false), overtakenBy: "nothing", isToldLate: false };
    this.#pending.set(computer, pending);
    pending.answered = this.#fetch(computer, pending).finally(() => this.#pending.delete(computer));
    return pending.answered;
  }

  /** Whether the Computer has listed. Never rejects. */
  async #fetch(computer: string, pending: Pending): Promise<boolean> {
    const { view, fetch, what, logger } = this.#parts;
    const { office } = view;
    if (office === undefined || !view.isReachable(computer)) return false;
    const askedAtMs = performance.now();
    try {
      const value = await this.#limiter.run(() => fetch(office.computer(computer)));
      this.#late.delete(computer);
      this.#refusals.delete(computer);
      if (pending.overtakenBy === "leave" || !view.has(computer)) return false;
      this.#entries.set(computer, {
        value,
        atMs: pending.overtakenBy === "change" ? -Infinity : askedAtMs,
      });
      return true;
    } catch (error) {
      logger.warn(`${what} not listed`, { computer, error: describeError(error) });
      if (isForbidden(error) && view.has(computer)) {
        this.#entries.delete(computer);
        const why = toSeenError(error);
        this.#refusals.set(computer, `Cannot list ${what} of Computer ${toSeenName(computer)}: ${why}`);
      }
      return false;
    }
  }
}

/** What a Computer listed, as it can stand in a list for clients; the log has how many entries cannot. */
export function toListEntries<Info extends object>(
  kind: EntryKind,
  entries: readonly Info[],
  { computer, logger }: { readonly computer: string; readonly logger: Logger },
): Info[] {
  const listed = entries.map((entry) => toListEntry(kind, entry));
  const fitting = listed.filter((entry) => entry !== undefined);
  const count = entries.length - fitting.length;
  if (count > 0) logger.warn(`${kind}s left out: too large, or nested too deeply`, { computer, count });
  return fitting;
}
