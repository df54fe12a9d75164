/** What each Computer of an office lists, kept until it tells of a change. */
import { settledWithin } from "../async/abortable.ts";
import type { RemoteComputer } from "../agent/remote_computer.ts";
import { fitsIntoList } from "../agent/toolkit/mcp.ts";
import type { OfficeChange, OfficeView } from "../agent/toolkit/office_view.ts";
import type { Logger } from "../log.ts";
import { describeError } from "../text.ts";

/** How long a list waits for a Computer that is slow, in milliseconds. */
const PATIENCE_MS = 5_000;
/** How long a list may be used when nobody tells of changes, in milliseconds. */
const MAX_AGE_MS = 60_000;

/** What a cache is made of. */
export interface ComputerCacheParts<Value> {
  readonly view: OfficeView;
  /** What is listed, for the log: `resources`. */
  readonly what: string;
  /** Asks a Computer. */
  readonly fetch: (remote: RemoteComputer) => Promise<Value>;
  /** The changes of a Computer after which it is asked again. */
  readonly changes: readonly OfficeChange["kind"][];
  /** Called when a Computer that was late has answered. */
  readonly onLate: () => void;
  readonly logger: Logger;
}

interface Entry<Value> {
  readonly value: Value;
  readonly atMs: number;
}

/** Asks Computers for lists, each once at a time. A Computer that does not answer delays nobody: its old list serves. */
export class ComputerCache<Value> {
  readonly #parts: ComputerCacheParts<Value>;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #pending = new Map<string, Promise<void>>();

  constructor(parts: ComputerCacheParts<Value>) {
    this.#parts = parts;
    parts.view.onChange((change) => this.#onChange(change));
  }

  /** The lists of all Computers that are kept now. */
  get kept(): Value[] {
    return [...this.#entries.values()].map(({ value }) => value);
  }

  /** The lists of these Computers, in their order. One that has never answered has none. */
  async get(computers: readonly string[]): Promise<Value[]> {
    const stale = computers.filter((name) => !this.#isFresh(name));
    if (stale.length > 0) {
      await settledWithin(Promise.all(stale.map((name) => this.#refresh(name))), PATIENCE_MS);
      for (const name of stale) void this.#pending.get(name)?.then(this.#parts.onLate);
    }
    return computers.flatMap((name) => this.#entries.get(name)?.value ?? []);
  }

  #isFresh(computer: string): boolean {
    const entry = this.#entries.get(computer);
    return entry !== undefined && performance.now() - entry.atMs < MAX_AGE_MS;
  }

  #onChange(change: OfficeChange): void {
    const { view, changes } = this.#parts;
    if (change.kind === "members") {
      for (const name of this.#entries.keys()) if (!view.has(name)) this.#entries.delete(name);
    } else if (change.kind === "connection") {
      for (const name of this.#entries.keys()) this.#expire(name);
    } else if ("computer" in change && changes.includes(change.kind)) {
      this.#expire(change.computer);
    }
  }

  /** The old list stays, for a Computer that does not answer. */
  #expire(computer: string): void {
    const entry = this.#entries.get(computer);
    if (entry !== undefined) this.#entries.set(computer, { ...entry, atMs: -Infinity });
  }

  #refresh(computer: string): Promise<void> {
    const running = this.#pending.get(computer);
    if (running !== undefined) return running;
    const refreshing = this.#fetch(computer).finally(() => this.#pending.delete(computer));
    this.#pending.set(computer, refreshing);
    return refreshing;
  }

  /** Never rejects. */
  async #fetch(computer: string): Promise<void> {
    const { view, fetch, what, logger } = this.#parts;
    const { office } = view;
    if (office === undefined || !view.isConnected) return;
    const atMs = performance.now();
    try {
      const value = await fetch(office.computer(computer));
      if (view.has(computer)) this.#entries.set(computer, { value, atMs });
    } catch (error) {
      logger.warn(`${what} not listed`, { computer, error: describeError(error) });
    }
  }
}

/** The entries of a Computer's list that can stand in a list for clients; the log has how many cannot. */
export function fittingEntries<Item>(
  entries: readonly Item[],
  { what, computer, logger }: { readonly what: string; readonly computer: string; readonly logger: Logger },
): Item[] {
  const fitting = entries.filter(fitsIntoList);
  const count = entries.length - fitting.length;
  if (count > 0) logger.warn(`${what} left out: too large, or nested too deeply`, { computer, count });
  return fitting;
}
