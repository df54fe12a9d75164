/** Which kind of versions of MCP each server spoke last, so that it need not be asked at each start. */
import { createHash } from "node:crypto";
import { BoundedMap } from "../async/bounded_collections.ts";
import { isRecord, parseJson } from "../json/json.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import type { Era } from "./handshake.ts";

/** The most servers that are remembered; the one that was heard of longest ago is forgotten. */
const MAX_SERVERS = 1_000;
/** How long a server counts as one with sessions, in milliseconds: it may learn the newer version. */
const SESSION_ERA_MAX_AGE_MS = 24 * 60 * 60 * 1_000;

/** Where a memory is kept between two runs of a program. */
export interface EraStore {
  /** Reads what was written last; `undefined` when there is nothing. Never rejects. */
  read(): Promise<string | undefined>;
  /** Replaces what was written. Never rejects. */
  write(text: string): Promise<void>;
}

interface Verdict {
  readonly era: Era;
  readonly atMs: number;
}

/** The verdicts about servers. What is read from a store is checked, so a damaged one costs nothing but the questions. */
export class EraMemory {
  readonly #store: EraStore | undefined;
  readonly #now: () => number;
  readonly #verdicts = new BoundedMap<string, Verdict>(MAX_SERVERS);
  #loaded: Promise<void> | undefined;
  #written: Promise<void> = Promise.resolve();

  /** @param options `now`: the time since 1970 in milliseconds. */
  constructor(
    { store, now = Date.now }: { readonly store?: EraStore | undefined; readonly now?: () => number } = {},
  ) {
    this.#store = store;
    this.#now = now;
  }

  /** Returns what the server spoke last, if that still counts. */
  async recall(config: ResolvedServerConfig): Promise<Era | undefined> {
    await (this.#loaded ??= this.#load());
    const verdict = this.#verdicts.get(keyOf(config));
    return verdict !== undefined && this.#counts(verdict) ? verdict.era : undefined;
  }

  remember(config: ResolvedServerConfig, era: Era): void {
    const key = keyOf(config);
    const before = this.#verdicts.get(key);
    if (before?.era === era && this.#counts(before)) return;
    this.#verdicts.set(key, { era, atMs: this.#now() });
    this.#save();
  }

  /** Drops a verdict that turned out wrong. */
  forget(config: ResolvedServerConfig): void {
    if (this.#verdicts.delete(keyOf(config))) this.#save();
  }

  async settled(): Promise<void> {
    await this.#written;
  }

  #counts({ era, atMs }: Verdict): boolean {
    const ageMs = this.#now() - atMs;
    return era === "2026" || (ageMs >= 0 && ageMs <= SESSION_ERA_MAX_AGE_MS);
  }

  async #load(): Promise<void> {
    const text = await this.#store?.read();
    const value = text === undefined ? undefined : parseJson(text);
    if (!isRecord(value)) return;
    for (const [key, verdict] of Object.entries(value).slice(-MAX_SERVERS)) {
      const { era, atMs } = isRecord(verdict) ? verdict : {};
      if ((era !== "2025" && era !== "2026") || typeof atMs !== "number") continue;
      if (!this.#verdicts.has(key)) this.#verdicts.set(key, { era, atMs });
    }
  }

  #save(): void {
    const store = this.#store;
    if (store === undefined) return;
    // What is written is what counts then, so that several changes at once are one write.
    this.#written = this.#written.then(() =>
      store.write(`${JSON.stringify(Object.fromEntries(this.#verdicts), undefined, 2)}\n`)
    );
  }
}

/** A digest of where the server is: its URL or command may hold secrets. */
function keyOf({ type, server_parameters: parameters }: ResolvedServerConfig): string {
  const place = "url" in parameters ? [parameters.url] : [parameters.command, ...parameters.args];
  return createHash("sha256").update(JSON.stringify([type, ...place])).digest("hex");
}
