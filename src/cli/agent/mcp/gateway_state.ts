/** The file that keeps the names of tools and Computers, and the tools that were called, over restarts (`--state`). */
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

/** What a gateway keeps. */
export interface KeptByGateway {
  readonly names: readonly GivenName[];
  /** The names of the Computers of several offices. */
  readonly computers: readonly GivenComputerName[];
  /** The tools that were called, as they were then. */
  readonly pinned: readonly PinnedTool[];
}

const NOTHING: KeptByGateway = { names: [], computers: [], pinned: [] };

/**
 * Read once and written after each change, one write at a time. The entries of several MCP clients may name one file: what
 * another gateway has written meanwhile stays.
 */
export class GatewayState {
  /** What the file had at the start. */
  readonly kept: KeptByGateway;
  readonly #path: string;
  readonly #log: Logger;
  /** The names of this gateway that the file has. */
  #written: readonly GivenName[];
  #next: KeptByGateway | undefined;
  #writing: Promise<void> | undefined;

  private constructor(path: string, kept: KeptByGateway, logger: Logger) {
    this.#path = path;
    this.kept = kept;
    this.#written = kept.names;
    this.#log = logger;
  }

  /**
   * Reads the file; one that does not exist, or is empty, is written later. A link is followed.
   *
   * @throws {UsageError} when it cannot be read, or holds something else.
   */
  static async open(path: string, logger: Logger): Promise<GatewayState> {
    const read = await readRegularFile(path, { maxBytes: MAX_BYTES });
    if ("text" in read) {
      return new GatewayState(await Deno.realPath(path), parseState(path, read.text), logger);
    }
    if (read.cause instanceof Deno.errors.NotFound) return new GatewayState(path, NOTHING, logger);
    throw new UsageError(`Cannot read the names of tools from "${path}": ${read.state}`, {
      cause: read.cause,
    });
  }

  /** Writes this in place of what this gateway had before. A failure is logged: the gateway works without the file. */
  keep(state: KeptByGateway): void {
    this.#next = state;
    this.#writing ??= this.#writeAll().finally(() => this.#writing = undefined);
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#next !== undefined) {
      const state = this.#next;
      this.#next = undefined;
      try {
        const { names: all, computers, pinned } = await this.#withOthers(state);
        const room = MAX_BYTES - [...computers, ...pinned].reduce((size, each) => size + sizeOf(each), 0);
        const names = fittingNames(all, room);
        const left = all.length - names.length;
        if (left > 0) this.#log.warn("names of tools not kept: the file is full", { file: this.#path, left });
        const beside = {
          ...(computers.length === 0 ? {} : { computers }),
          ...(pinned.length === 0 ? {} : { called: pinned }),
        };
        const text = JSON.stringify({ version: 1, names, ...beside }, null, 1);
        await replaceFile(this.#path, `${text}\n`, { mode: 0o600 });
        this.#written = state.names;
      } catch (error) {
        this.#log.error("names of tools not kept", { file: this.#path, error: describeFileError(error) });
      }
    }
  }

  /** This state, and what another gateway has written into the file and this state leaves free. */
  async #withOthers({ names, computers, pinned }: KeptByGateway): Promise<KeptByGateway> {
    const read = await readRegularFile(this.#path, { maxBytes: MAX_BYTES });
    const file = "text" in read ? parseState(this.#path, read.text) : NOTHING;
    const own = new Set([...this.#written, ...names].map(keyOf));
    const taken = new Set(names.map(({ name }) => name));
    const others = file.names.filter((each) => !own.has(keyOf(each)) && !taken.has(each.name));
    const known = new Set(computers.flatMap((each) => [each.name, placeOf(each)]));
    const free = file.computers.filter((each) => !known.has(each.name) && !known.has(placeOf(each)));
    const called = new Map([...file.pinned, ...pinned].map((each) => [keyOf(each), each]));
    return {
      names: [...names, ...others],
      computers: [...computers, ...free].slice(0, MAX_COMPUTERS),
      pinned: [...called.values()].slice(-MAX_PINNED),
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

/** More bytes than an entry takes in the file, with its line feeds and spaces. */
function sizeOf(entry: GivenName | GivenComputerName | PinnedTool): number {
  return new TextEncoder().encode(JSON.stringify({ names: [entry] }, null, 1)).length;
}

function keyOf({ computer, tool }: Pick<GivenName, "computer" | "tool">): string {
  return JSON.stringify([computer, tool]);
}

function placeOf({ office, computer }: GivenComputerName): string {
  return JSON.stringify([office, computer]);
}

function parseState(path: string, text: string): KeptByGateway {
  if (text.trim() === "") return NOTHING;
  const value = parseJson(text);
  if (!isRecord(value) || !Array.isArray(value["names"])) {
    throw new UsageError(
      `Cannot read the names of tools from "${path}": it is no file that this command has written; give another path`,
    );
  }
  return {
    names: entriesOf(value["names"], ["computer", "tool", "name"]),
    computers: entriesOf(value["computers"], ["office", "computer", "name"]),
    pinned: entriesOf(value["called"], ["computer", "tool", "digest"]),
  };
}

/** The entries of a list that have these texts. */
function entriesOf<Member extends string>(
  list: unknown,
  members: readonly Member[],
): Readonly<Record<Member, string>>[] {
  const isWhole = (entry: unknown): entry is Record<Member, string> =>
    isRecord(entry) && members.every((member) => typeof entry[member] === "string");
  return Array.isArray(list) ? list.filter(isWhole) : [];
}
