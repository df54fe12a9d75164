/** The file that keeps the names of tools over restarts (`--state`). */
import type { GivenName } from "../../../agent/toolkit/tool_names.ts";
import { describeFileError, readRegularFile, replaceFile } from "../../../files.ts";
import { isRecord, parseJson } from "../../../json.ts";
import type { Logger } from "../../../log.ts";
import { UsageError } from "../../outcome.ts";

/** The largest file that is read, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Names of tools, read once and written after each change, one write at a time. */
export class NamesFile {
  /** The names that the file had when it was opened. */
  readonly given: readonly GivenName[];
  readonly #path: string;
  readonly #log: Logger;
  #next: readonly GivenName[] | undefined;
  #writing: Promise<void> | undefined;

  private constructor(path: string, given: readonly GivenName[], logger: Logger) {
    this.#path = path;
    this.given = given;
    this.#log = logger;
  }

  /**
   * Reads the file; one that does not exist is written later.
   *
   * @throws {UsageError} when it cannot be read, or holds something else.
   */
  static async open(path: string, logger: Logger): Promise<NamesFile> {
    const read = await readRegularFile(path, { maxBytes: MAX_BYTES });
    if ("text" in read) return new NamesFile(path, readNames(path, read.text), logger);
    if (read.cause instanceof Deno.errors.NotFound) return new NamesFile(path, [], logger);
    throw new UsageError(`Cannot read the names of tools from "${path}": ${read.state}`, {
      cause: read.cause,
    });
  }

  /** Writes these names in place of the ones before. A failure is logged: the gateway works without the file. */
  keep(names: readonly GivenName[]): void {
    this.#next = names;
    this.#writing ??= this.#writeAll().finally(() => this.#writing = undefined);
  }

  /** Waits until the last names are written. */
  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#next !== undefined) {
      const names = this.#next;
      this.#next = undefined;
      try {
        await replaceFile(this.#path, `${JSON.stringify({ version: 1, names }, null, 1)}\n`, { mode: 0o600 });
      } catch (error) {
        this.#log.error("names of tools not kept", { file: this.#path, error: describeFileError(error) });
      }
    }
  }
}

function readNames(path: string, text: string): GivenName[] {
  const value = parseJson(text);
  const names = isRecord(value) ? value["names"] : undefined;
  if (!Array.isArray(names)) {
    throw new UsageError(
      `Cannot read the names of tools from "${path}": it is no file that this command has written; give another path`,
    );
  }
  return names.filter(isGivenName);
}

function isGivenName(value: unknown): value is GivenName {
  return isRecord(value) && ["computer", "tool", "name"].every((member) => typeof value[member] === "string");
}
