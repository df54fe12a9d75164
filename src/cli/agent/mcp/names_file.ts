/** The file that keeps the names of tools, and of the Computers of several offices, over restarts (`--state`). */
import type { GivenComputerName } from "../../../agent/group/computer_names.ts";
import type { GivenName } from "../../../agent/toolkit/tool_names.ts";
import type { PinnedTool } from "../../../gateway/pinned_tools.ts";
import { describeFileError, readRegularFile, replaceFile } from "../../../files/files.ts";
import { isRecord, parseJson } from "../../../json/json.ts";
import type { Logger } from "../../../log.ts";
import { UsageError } from "../../outcome.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** The most names of Computers that the file keeps. */
const MAX_COMPUTERS = 5_000;
/** The most tools that were called that the file keeps. */
const MAX_PINNED = 10_000;

interface FileNames {
  readonly names: readonly GivenName[];
  readonly computers: readonly GivenComputerName[];
  /** The tools that were called, as they were then. */
  readonly pinned: readonly PinnedTool[];
}

/** What a gateway keeps beside the names of tools. */
export interface KeptBeside {
  readonly computers?: readonly GivenComputerName[] | undefined;
  readonly pinned?: readonly PinnedTool[] | undefined;
}

const NO_NAMES: FileNames = { names: [], computers: [], pinned: [] };

/**
 * Names of tools, read once and written after each change, one write at a time. The entries of several MCP clients may
 * name one file: what another gateway has written meanwhile stays.
 */
export class NamesFile {
  readonly given: readonly GivenName[];
  /** The names of the Computers of several offices. */
  readonly computers: readonly GivenComputerName[];
  /** The tools that were called, as they were then. */
  readonly pinned: readonly PinnedTool[];
  readonly #path: string;
  readonly #log: Logger;
  /** The names of this gateway that the file has. */
  #written: readonly GivenName[];
  #next: readonly GivenName[] | undefined;
  #writing: Promise<void> | undefined;
  #beside: () => KeptBeside = () => ({});

  private constructor(path: string, { names, computers, pinned }: FileNames, logger: Logger) {
    this.#path = path;
    this.given = names;
    this.computers = computers;
    this.pinned = pinned;
    this.#written = names;
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
    if (read.cause instanceof Deno.errors.NotFound) return new NamesFile(path, NO_NAMES, logger);
    throw new UsageError(`Cannot read the names of tools from "${path}": ${read.state}`, {
      cause: read.cause,
    });
  }

  /** Writes these names in place of the ones before. A failure is logged: the gateway works without the file. */
  keep(names: readonly GivenName[]): void {
    this.#next = names;
    this.#writing ??= this.#writeAll().finally(() => this.#writing = undefined);
  }

  /** Writes this, too, from the next {@linkcode keep} on. */
  keepBeside(beside: () => KeptBeside): void {
    this.#beside = beside;
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#next !== undefined) {
      const names = this.#next;
      this.#next = undefined;
      try {
        const others = await this.#readOthers(names);
        const all = [...names, ...others.names];
        const { computers, pinned } = others;
        const room = MAX_BYTES - [...computers, ...pinned].reduce((size, each) => size + sizeOf(each), 0);
        const kept = fittingNames(all, room);
        const left = all.length - kept.length;
        if (left > 0) this.#log.warn("names of tools not kept: the file is full", { file: this.#path, left });
        const text = JSON.stringify(
          {
            version: 1,
            names: kept,
            ...(computers.length === 0 ? {} : { computers }),
            ...(pinned.length === 0 ? {} : { called: pinned }),
          },
          null,
          1,
        );
        await replaceFile(this.#path, `${text}\n`, { mode: 0o600 });
        this.#written = names;
      } catch (error) {
        this.#log.error("names of tools not kept", { file: this.#path, error: describeFileError(error) });
      }
    }
  }

  /**
   * The names in the file that another gateway has written, and that these leave free; with all names of Computers and all
   * tools that were called, which this gateway's come before.
   */
  async #readOthers(names: readonly GivenName[]): Promise<FileNames> {
    const read = await readRegularFile(this.#path, { maxBytes: MAX_BYTES });
    const file = "text" in read ? readNames(this.#path, read.text) : NO_NAMES;
    const own = new Set([...this.#written, ...names].map(keyOf));
    const taken = new Set(names.map(({ name }) => name));
    const { computers: given = this.computers, pinned: called = this.pinned } = this.#beside();
    const computers = given.slice(0, MAX_COMPUTERS);
    const pinned = new Map([...file.pinned, ...called].map((each) => [keyOf(each), each]));
    const known = new Set(computers.flatMap((each) => [each.name, placeOf(each)]));
    return {
      names: file.names.filter((each) => !own.has(keyOf(each)) && !taken.has(each.name)),
      computers: [
        ...computers,
        ...file.computers.filter((each) => !known.has(each.name) && !known.has(placeOf(each))),
      ].slice(0, MAX_COMPUTERS),
      pinned: [...pinned.values()].slice(-MAX_PINNED),
    };
  }
}

/** Without the longest names, which a Computer may make up, when all together are too large for a file. */
function fittingNames(names: readonly GivenName[], room: number): readonly GivenName[] {
  const sizes = new Map(names.map((name) => [name, sizeOf(name)]));
  let left = room;
  const isFitting = (name: GivenName) => (left -= sizes.get(name) ?? 0) >= 0;
  const bySize = names.toSorted((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0));
  const fitting = new Set(bySize.filter(isFitting));
  return names.filter((name) => fitting.has(name));
}

/** More bytes than a name takes in the file, with its line feeds and spaces. */
function sizeOf(name: GivenName | GivenComputerName | PinnedTool): number {
  return new TextEncoder().encode(JSON.stringify({ names: [name] }, null, 1)).length;
}

function keyOf({ computer, tool }: Pick<GivenName, "computer" | "tool">): string {
  return JSON.stringify([computer, tool]);
}

function placeOf({ office, computer }: GivenComputerName): string {
  return JSON.stringify([office, computer]);
}

function readNames(path: string, text: string): FileNames {
  if (text.trim() === "") return NO_NAMES;
  const value = parseJson(text);
  const names = isRecord(value) ? value["names"] : undefined;
  if (!Array.isArray(names)) {
    throw new UsageError(
      `Cannot read the names of tools from "${path}": it is no file that this command has written; give another path`,
    );
  }
  const listOf = (member: string): unknown[] => {
    const list = isRecord(value) ? value[member] : undefined;
    return Array.isArray(list) ? list : [];
  };
  return {
    names: names.filter(isGivenName),
    computers: listOf("computers").filter(isGivenComputerName),
    pinned: listOf("called").filter(isPinnedTool),
  };
}

function isPinnedTool(value: unknown): value is PinnedTool {
  return isRecord(value) &&
    ["computer", "tool", "digest"].every((member) => typeof value[member] === "string");
}

function isGivenComputerName(value: unknown): value is GivenComputerName {
  return isRecord(value) &&
    ["office", "computer", "name"].every((member) => typeof value[member] === "string");
}

function isGivenName(value: unknown): value is GivenName {
  return isRecord(value) && ["computer", "tool", "name"].every((member) => typeof value[member] === "string");
}
