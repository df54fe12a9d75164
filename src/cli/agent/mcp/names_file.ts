/** The file that keeps the names of tools over restarts (`--state`). */
import type { GivenName } from "../../../agent/toolkit/tool_names.ts";
import { describeFileError, readRegularFile, replaceFile } from "../../../files/files.ts";
import { isRecord, parseJson } from "../../../json/json.ts";
import type { Logger } from "../../../log.ts";
import { UsageError } from "../../outcome.ts";

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Names of tools, read once and written after each change, one write at a time. The entries of several MCP clients may
 * name one file: what another gateway has written meanwhile stays.
 */
export class NamesFile {
  readonly given: readonly GivenName[];
  readonly #path: string;
  readonly #log: Logger;
  /** The names of this gateway that the file has. */
  #written: readonly GivenName[];
  #next: readonly GivenName[] | undefined;
  #writing: Promise<void> | undefined;

  private constructor(path: string, given: readonly GivenName[], logger: Logger) {
    this.#path = path;
    this.given = given;
    this.#written = given;
    this.#log = logger;
  }

  /**
   * Reads the file; one that does not exist, or is empty, is written later. A link is followed.
   *
   * @throws {UsageError} when it cannot be read, or holds something else.
   */
  static async open(path: string, logger: Logger): Promise<NamesFile> {
    const read = await readRegularFile(path, { maxBytes: MAX_BYTES });
    if ("text" in read) {
      return new NamesFile(await Deno.realPath(path), readNames(path, read.text), logger);
    }
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

  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#next !== undefined) {
      const names = this.#next;
      this.#next = undefined;
      try {
        const all = [...names, ...await this.#othersThan(names)];
        const kept = fittingNames(all);
        const left = all.length - kept.length;
        if (left > 0) this.#log.warn("names of tools not kept: the file is full", { file: this.#path, left });
        const text = JSON.stringify({ version: 1, names: kept }, null, 1);
        await replaceFile(this.#path, `${text}\n`, { mode: 0o600 });
        this.#written = names;
      } catch (error) {
        this.#log.error("names of tools not kept", { file: this.#path, error: describeFileError(error) });
      }
    }
  }

  /** The names in the file that another gateway has written, and that these leave free. */
  async #othersThan(names: readonly GivenName[]): Promise<GivenName[]> {
    const read = await readRegularFile(this.#path, { maxBytes: MAX_BYTES });
    if (!("text" in read)) return [];
    const own = new Set([...this.#written, ...names].map(keyOf));
    const taken = new Set(names.map(({ name }) => name));
    return readNames(this.#path, read.text).filter((each) => !own.has(keyOf(each)) && !taken.has(each.name));
  }
}

/** Without the longest names, which a Computer may make up, when all together are too large for a file. */
function fittingNames(names: readonly GivenName[]): readonly GivenName[] {
  const sizes = new Map(names.map((name) => [name, sizeOf(name)]));
  let left = MAX_BYTES;
  const isFitting = (name: GivenName) => (left -= sizes.get(name) ?? 0) >= 0;
  const bySize = names.toSorted((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0));
  const fitting = new Set(bySize.filter(isFitting));
  return names.filter((name) => fitting.has(name));
}

/** More bytes than a name takes in the file, with its line feeds and spaces. */
function sizeOf(name: GivenName): number {
  return new TextEncoder().encode(JSON.stringify({ names: [name] }, null, 1)).length;
}

function keyOf({ computer, tool }: GivenName): string {
  return JSON.stringify([computer, tool]);
}

function readNames(path: string, text: string): GivenName[] {
  if (text.trim() === "") return [];
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
