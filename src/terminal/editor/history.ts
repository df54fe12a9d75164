/** The history of typed lines, in a private file that several processes may share. */
import { dirname } from "@std/path";
import { describeError } from "../../text/text.ts";
import { printableLine } from "../../text/safe_text.ts";

const DEFAULT_HISTORY_LINES = 1_000;
/** Longer lines are not kept, in characters. */
const MAX_LINE_LENGTH = 4_096;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface HistoryOptions {
  /**
   * The path of the file; in memory only by default. A missing folder is created. Only the owner can read the file and
   * a folder that was created.
   */
  readonly file?: string | undefined;
  /** How many lines are kept, the latest ones; 1,000 by default. */
  readonly maxLines?: number | undefined;
  /** Whether a line may be kept, for example because it contains no secret; all lines by default. */
  readonly isKept?: ((line: string) => boolean) | undefined;
  /** Called at most once, when the file cannot be used; the history then stays in memory. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A history. No method fails: when the file cannot be used, the lines of this process stay in memory. */
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

  static async open(options: HistoryOptions = {}): Promise<History> {
    const history = new History(options);
    await history.#withFile((path) => history.#load(path));
    return history;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether a line may be kept: it is not blank, not too long, has no control characters, and `isKept` accepts it. */
  isKept(line: string): boolean {
    const { isKept = () => true } = this.#options;
    return line.trim() !== "" && line.length <= MAX_LINE_LENGTH && printableLine(line) === line &&
      isKept(line);
  }

  add(line: string): void {
    if (!this.isKept(line) || line === this.#lines.at(-1)) return;
    this.#lines.push(line);
    if (this.#lines.length > this.maxLines) this.#lines.shift();
    this.#writing = this.#writing.then(() => this.#withFile((path) => this.#append(path, line)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }

  async #load(path: string): Promise<void> {
    await Deno.mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
    using file = await Deno.open(path, { read: true, write: true, create: true, mode: FILE_MODE });
    if (Deno.build.os !== "windows") await Deno.chmod(path, FILE_MODE);
    // Another process may append a line meanwhile. Closing the file releases the lock.
    await file.lock(true);
    const bytes = new Uint8Array((await file.stat()).size);
    await file.read(bytes);
    const all = new TextDecoder().decode(bytes).split("\n");
    const kept = all.filter((line, i) => this.isKept(line) && line !== all[i - 1]).slice(-this.maxLines);
    this.#lines.push(...kept);
    if (all.length - 1 <= this.maxLines) return;
    const shorter = new TextEncoder().encode(kept.map((line) => `${line}\n`).join(""));
    await file.seek(0, Deno.SeekMode.Start);
    await file.write(shorter);
    await file.truncate(shorter.length);
  }

  async #append(path: string, line: string): Promise<void> {
    using file = await Deno.open(path, { append: true, create: true, mode: FILE_MODE });
    await file.lock(true);
    await file.write(new TextEncoder().encode(`${line}\n`));
  }

  /** Uses the file if there is one. After the first failure, which is reported, the file is not used again. */
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

/** Checks permissions first, so that Deno does not ask for them in the middle of our prompt. */
async function assertAllowed(path: string): Promise<void> {
  for (const name of ["read", "write"] as const) {
    const { state } = await Deno.permissions.query({ name, path });
    if (state !== "granted") throw new Deno.errors.NotCapable(`--allow-${name} is missing`);
  }
}
