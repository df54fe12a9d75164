/** Shares a few parser processes among all files. */
import {
  DocumentError,
  type DocumentFacts,
  type PageOptions,
  type ParseLimits,
  type ScanTexts,
  unreadable,
} from "../formats/format.ts";
import { type FileKind, kindNamed } from "../formats/kinds.ts";
import type { DocumentPage } from "@a2c-smcp/sdk/provider";
import { settledWithin } from "../basics.ts";
import type { PageText } from "../search/terms.ts";
import type { ParseAnswer, ParseFailure } from "./frames.ts";
import { type AnsweredRequest, ParserProcess, type ProcessLimits } from "./parser_process.ts";

const MAX_OPEN_FILES = 4;
/** How long a process may have nothing to do before it ends, in milliseconds; one stays. */
const IDLE_MS = 60_000;
/** How long a process goes on with what nobody waits for any more, in milliseconds; then it ends, for the sake of others. */
const ABANDONED_MS = 5_000;

export interface PoolLimits extends ProcessLimits, ParseLimits {
  /** The most time for opening a file or reading a page, in milliseconds. */
  readonly timeMs: number;
  /** The most processes at the same time, at least 1. */
  readonly processes: number;
}

export interface ParsableFile {
  /** Names the content: another version of the same file has another key. */
  readonly key: string;
  readonly kind: FileKind;
  readonly fileName: string;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** Keeps the texts of its scans, which take long to read. */
  readonly scanTexts?: { get(): ScanTexts | undefined; add(texts: ScanTexts): void } | undefined;
}

export interface PoolRequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether nobody waits for the answer: it then leaves a process to others. `false` by default. */
  readonly isBackground?: boolean | undefined;
}

type Work<T> = (slot: Slot) => Promise<T>;

interface Job {
  readonly key: string;
  readonly isBackground: boolean;
  run(slot: Slot): Promise<void>;
}

interface Slot {
  process: ParserProcess | undefined;
  /** The open files, the least recently used first. */
  readonly open: Map<string, { readonly document: number; readonly facts: DocumentFacts }>;
  /** Whether the process reads no other file than its first one. */
  isTaken: boolean;
  job: Job | undefined;
  idleTimer: ReturnType<typeof setTimeout> | undefined;
}

/** Opens files and reads their pages in parser processes. A file that a parser fails on costs that file alone. */
export class ParserPool implements AsyncDisposable {
  readonly #limits: PoolLimits;
  readonly #slots: readonly Slot[];
  readonly #waiting: Job[] = [];
  readonly #endings = new Set<Promise<void>>();
  #lastDocument = 0;
  /** The file of the job that was taken last. */
  #lastKey = "";
  #isClosed = false;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
    this.#slots = Array.from({ length: limits.processes }, () => ({
      process: undefined,
      open: new Map(),
      isTaken: false,
      job: undefined,
      idleTimer: undefined,
    }));
  }

  /** The limits that a file may exceed, as a text. */
  get limits(): string {
    return `${this.#limits.timeMs} ms, ${this.#limits.maxMemoryBytes} bytes`;
  }

  /** Starts the first process, so that the first request need not wait for it. */
  warm(): void {
    const [slot] = this.#slots;
    if (slot !== undefined && !this.#isClosed) slot.process ??= new ParserProcess(this.#limits);
  }

  /** What is known of a file without its pages. Throws a {@linkcode DocumentError} when it cannot be opened. */
  facts(file: ParsableFile, options: PoolRequestOptions = {}): Promise<DocumentFacts> {
    return this.#run(file, options, async (slot) => (await this.#open(slot, file)).facts);
  }

  /** A page of a file, by its number from 0. Throws a {@linkcode DocumentError} when it cannot be read. */
  async page(file: ParsableFile, index: number, options: PoolRequestOptions = {}): Promise<DocumentPage> {
    const read = (page: PageOptions) =>
      this.#run(file, options, async (slot) => {
        const { document } = await this.#open(slot, file);
        const { timeMs } = this.#limits;
        const answer = await this.#ask(slot, { ask: "page", document, index, options: page, timeMs });
        if ("page" in answer) {
          keepScanTexts(file, answer.scanTexts);
          return answer.page;
        }
        throw this.#toError(answer);
      });
    try {
      return await read({ isPlain: false });
    } catch (error) {
      if (!(error instanceof ParserLimitError) || kindNamed(file.kind).hasPlainPages !== true) throw error;
      return await read({ isPlain: true, isTextOnly: true });
    }
  }

  /** The terms of the pages from a number on, as many as a short time allows. Throws a {@linkcode DocumentError}. */
  terms(
    file: ParsableFile,
    from: number,
    options: PoolRequestOptions = {},
  ): Promise<readonly PageText[]> {
    return this.#run(file, options, async (slot) => {
      const { document } = await this.#open(slot, file);
      const answer = await this.#ask(slot, { ask: "terms", document, from, timeMs: this.#limits.timeMs });
      if ("terms" in answer) {
        keepScanTexts(file, answer.scanTexts);
        return answer.terms;
      }
      throw this.#toError(answer);
    });
  }

  /** Ends all processes. Requests that wait are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const slot of this.#slots) this.#end(slot);
    this.#next();
    await Promise.all(this.#endings);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #run<T>(
    { key }: ParsableFile,
    { signal, isBackground = false }: PoolRequestOptions,
    work: Work<T>,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const giveUp = () => {
      const at = this.#waiting.indexOf(job);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(signal?.reason);
    };
    const job: Job = {
      key,
      isBackground,
      run: async (slot) => {
        signal?.removeEventListener("abort", giveUp);
        let timer: ReturnType<typeof setTimeout> | undefined;
        const abandon = () => timer = setTimeout(() => this.#end(slot), ABANDONED_MS);
        signal?.addEventListener("abort", abandon, { once: true });
        const [outcome] = await Promise.allSettled([this.#retried(slot, work, signal)]);
        signal?.removeEventListener("abort", abandon);
        clearTimeout(timer);
        // The next request of the same caller finds the process free.
        this.#release(slot);
        if (outcome.status === "fulfilled") resolve(outcome.value);
        else reject(signal?.aborted ? signal.reason : outcome.reason);
      },
    };
    this.#waiting.push(job);
    if (signal?.aborted) giveUp();
    else signal?.addEventListener("abort", giveUp, { once: true });
    this.#next();
    return promise;
  }

  /**
   * A process that has parsed other files may hold their memory, so a file that fails then gets a process of its own; also
   * where somebody else has ended the process.
   */
  async #retried<T>(slot: Slot, work: Work<T>, signal: AbortSignal | undefined): Promise<T> {
    const wasFresh = slot.open.size === 0;
    try {
      return await work(slot);
    } catch (error) {
      if (!(error instanceof ParserLimitError) || signal?.aborted) throw error;
      const mayPass = error.failure === "killed" || !wasFresh && !["time", "disk"].includes(error.failure);
      if (!mayPass) throw error;
      return await work(slot);
    }
  }

  #next(): void {
    for (const slot of this.#slots) {
      if (slot.job !== undefined) continue;
      const job = this.#take(slot);
      if (job === undefined) continue;
      clearTimeout(slot.idleTimer);
      slot.job = job;
      void job.run(slot);
    }
  }

  #release(slot: Slot): void {
    slot.job = undefined;
    if (this.#isClosed) return this.#next();
    slot.idleTimer = setTimeout(() => this.#rest(slot), IDLE_MS);
    Deno.unrefTimer(slot.idleTimer);
    this.#next();
  }

  /**
   * The next job for a process: somebody who waits comes before the background, and files take turns, so that one file of
   * slow pages does not hold up the others.
   */
  #take(slot: Slot): Job | undefined {
    const mayTakeBackground = this.#slots.length === 1 ||
      this.#slots.filter(({ job }) => job?.isBackground).length < this.#slots.length - 1;
    const candidates = this.#waiting.filter(({ isBackground }) => !isBackground || mayTakeBackground);
    const wanted = candidates.filter(({ key, isBackground }) => !isBackground && this.#isFor(slot, key));
    const job = wanted.find(({ key }) => !this.#hadItsTurn(key)) ?? wanted[0] ??
      candidates.find(({ isBackground }) => isBackground);
    if (job === undefined) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#lastKey = job.key;
    return job;
  }

  #hadItsTurn(key: string): boolean {
    return key === this.#lastKey || this.#slots.some(({ job }) => job?.key === key);
  }

  /** Whether a process should read a file: it has it open, or no idle process has. */
  #isFor(slot: Slot, key: string): boolean {
    return slot.open.has(key) || !this.#slots.some(({ open, job }) => job === undefined && open.has(key));
  }

  async #open(slot: Slot, file: ParsableFile) {
    const { key, kind, fileName } = file;
    const known = slot.open.get(key);
    if (known !== undefined && slot.process?.isAlive) {
      slot.open.delete(key);
      slot.open.set(key, known);
      return known;
    }
    const bytes = await this.#bytes(file);
    for (const [oldest, { document }] of slot.open) {
      if (slot.open.size < MAX_OPEN_FILES) break;
      slot.open.delete(oldest);
      slot.process?.forget(document);
    }
    const { isAlone = false } = kindNamed(kind);
    if (slot.isTaken || (isAlone && slot.open.size > 0)) this.#end(slot);
    const document = ++this.#lastDocument;
    const { maxUnpackedBytes, maxPageBytes, maxDepth, timeMs } = this.#limits;
    const limits = { maxUnpackedBytes, maxPageBytes, maxDepth, innerMs: Math.floor(timeMs / 3) };
    const answer = await this.#ask(slot, {
      ask: "open",
      document,
      kind,
      fileName,
      limits,
      timeMs,
      scanTexts: file.scanTexts?.get(),
    }, bytes);
    slot.isTaken = isAlone;
    if (!("facts" in answer)) throw this.#toError(answer);
    const opened = { document, facts: answer.facts };
    slot.open.set(key, opened);
    return opened;
  }

  /** The bytes of a file; a disk on the network may never give them. */
  async #bytes(file: ParsableFile): Promise<Uint8Array<ArrayBuffer>> {
    const { timeMs } = this.#limits;
    const reading = file.bytes();
    // After the time is over, nobody waits for its end.
    reading.catch(() => {});
    const bytes = await settledWithin(reading, timeMs);
    if (bytes !== undefined) return bytes;
    throw this.#toError({ failed: "disk", message: "the disk gives nothing" });
  }

  async #ask(slot: Slot, request: AnsweredRequest, bytes?: Uint8Array): Promise<ParseAnswer> {
    if (this.#isClosed) throw new PoolClosedError();
    if (slot.process?.isAlive === false) this.#end(slot);
    slot.process ??= new ParserProcess(this.#limits);
    const answer = await slot.process.ask(request, bytes);
    if (!("failed" in answer)) return answer;
    this.#end(slot);
    // The process was ended; the file is not to blame.
    if (this.#isClosed) throw new PoolClosedError();
    return answer;
  }

  #rest(slot: Slot): void {
    if (slot !== this.#slots[0]) this.#end(slot);
  }

  #end(slot: Slot): void {
    clearTimeout(slot.idleTimer);
    const { process } = slot;
    slot.process = undefined;
    slot.open.clear();
    slot.isTaken = false;
    if (process === undefined) return;
    const ending: Promise<void> = process.close().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }

  #toError(answer: ParseAnswer): Error {
    if ("refused" in answer) return unreadable(answer.refused, answer.message);
    const failure = "failed" in answer ? answer : { failed: "error" as const, message: "no answer" };
    return new ParserLimitError(failure.failed, { reason: describeFailure(failure, this.#limits) });
  }
}

function keepScanTexts({ scanTexts }: ParsableFile, texts: ScanTexts = {}): void {
  if (Object.keys(texts).length > 0) scanTexts?.add(texts);
}

/** A file that is not read because the pool has been closed. */
export class PoolClosedError extends Error {
  override readonly name = "PoolClosedError";

  constructor() {
    super("Cannot read file: the documents are being closed");
  }
}

/** A parser that gave no answer. */
export class ParserLimitError extends DocumentError {
  constructor(readonly failure: ParseFailure, { reason }: { readonly reason: string }) {
    super(failure === "error" ? "damaged" : "too_large", { reason });
  }
}

function describeFailure(
  { failed, message }: { readonly failed: ParseFailure; readonly message: string },
  { timeMs, maxMemoryBytes }: PoolLimits,
): string {
  switch (failed) {
    case "disk":
    case "time":
      return `reading it takes longer than ${timeMs / 1_000} s`;
    case "memory":
      return `reading it takes more than ${Math.floor(maxMemoryBytes / (1024 * 1024))} MiB of memory`;
    case "output":
    case "killed":
      return message;
    case "error":
      return `the file may be damaged: ${message}`;
  }
}
