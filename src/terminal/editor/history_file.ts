/** Lines that were typed, in a private file that several processes may share. */
import { dirname } from "@std/path";
import { describeError } from "../../text.ts";
import { printableLine } from "../safe_text.ts";

/** How many lines are kept unless told otherwise. */
const DEFAULT_HISTORY_LINES = 1_000;
/** Longer lines are not kept. */
const MAX_LINE_LENGTH = 4_096;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** How a history is kept. */
export interface HistoryOptions {
  /** Where; in memory only by default. The folder is made if it is missing; both are for their owner alone. */
  readonly file?: string | undefined;
  /** How many lines, the latest ones; 1,000 by default. */
  readonly maxLines?: number | undefined;
  /** Whether a line may be kept, which one with a secret in it may not; all by default. */
  readonly isKept?: ((line: string) => boolean) | undefined;
  /** Hears, once, why the file cannot be used; the history goes on without it. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A history. It never fails: without its file it remembers what was typed in this process. */
export class History implements AsyncDisposable {
  readonly maxLines: number;
  readonly #options: HistoryOptions;
  readonly #lines: string[] = [];
  #file: string | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: HistoryOptions) {
    this.#options = options;
    this.#file = options.file;
    this.maxLines = options.maxLines ?? DEFAULT_HISTORY_LINES;
  }

  /** Reads what is there, and shortens a file that has grown too long. */
  static async open(options: HistoryOptions = {}): Promise<History> {
    const history = new History(options);
    await history.#withFile((path) => history.#load(path));
    return history;
  }

  /** The lines, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether a line may be kept: no secret, no wall of text, nothing that would command a terminal. */
  isKept(line: string): boolean {
    const { isKept = () => true } = this.#options;
    return line.trim() !== "" && line.length <= MAX_LINE_LENGTH && printableLine(line) === line &&
      isKept(line);
  }

  /** Adds a line, unless it may not be kept or is the same as the one before. */
  add(line: string): void {
    if (!this.isKept(line) || line === this.#lines.at(-1)) return;
    this.#lines.push(line);
    if (this.#lines.length > this.maxLines) this.#lines.shift();
    this.#writing = this.#writing.then(() => this.#withFile((path) => append(path, line)));
  }

  /** Resolves when everything is written. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }

  async #load(path: string): Promise<void> {
    await Deno.mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
    using file = await Deno.open(path, { read: true, write: true, create: true, mode: FILE_MODE });
    if (Deno.build.os !== "windows") await Deno.chmod(path, FILE_MODE);
    await file.lock(true);
    const all = new TextDecoder().decode(await readAll(file)).split("\n");
    const kept = all.filter((line, i) => this.isKept(line) && line !== all[i - 1]).slice(-this.maxLines);
    this.#lines.push(...kept);
    if (all.length - 1 > this.maxLines) await rewrite(file, kept);
  }

  /** Does something with the file; the first failure is told and is the end of the file's use. */
  async #withFile(use: (path: string) => Promise<void>): Promise<void> {
    const path = this.#file;
    if (path === undefined) return;
    try {
      await assertAllowed(path);
      await use(path);
    } catch (error) {
      this.#file = undefined;
      this.#options.onWarning?.(`Cannot keep the history in "${path}": ${describeError(error)}`);
    }
  }
}

/** Nobody at a prompt wants to be asked for a permission by another prompt. */
async function assertAllowed(path: string): Promise<void> {
  for (const name of ["read", "write"] as const) {
    const { state } = await Deno.permissions.query({ name, path });
    if (state !== "granted") throw new Deno.errors.NotCapable(`not without --allow-${name}`);
  }
}

async function append(path: string, line: string): Promise<void> {
  using file = await Deno.open(path, { append: true, create: true, mode: FILE_MODE });
  // Another process may be shortening the file. Closing it gives the lock back.
  await file.lock(true);
  await writeAll(file, new TextEncoder().encode(`${line}\n`));
}

/** Writes over what is there and cuts the rest: an interruption loses no more than order. */
async function rewrite(file: Deno.FsFile, lines: readonly string[]): Promise<void> {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  await file.seek(0, Deno.SeekMode.Start);
  await writeAll(file, bytes);
  await file.truncate(bytes.length);
}

async function readAll(file: Deno.FsFile): Promise<Uint8Array<ArrayBuffer>> {
  const { size } = await file.stat();
  const bytes = new Uint8Array(size);
  let length = 0;
  for (let count: number | null = 0; count !== null && length < size; length += count ?? 0) {
    count = await file.read(bytes.subarray(length));
  }
  return bytes.subarray(0, length);
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await file.write(bytes.subarray(written));
}
