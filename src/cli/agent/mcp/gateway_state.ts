/** The file that keeps the names of tools and Computers, and the tools that were called, over restarts. */
import type { GatewayMemory, KeptByGateway } from "../../../gateway/gateway_options.ts";
import { BoundedMap } from "../../../async/bounded_collections.ts";
import type { GivenComputerName } from "../../../agent/group/computer_names.ts";
import type { GivenName } from "../../../agent/toolkit/tool_names.ts";
import { describeFileError, readRegularFile, replaceFile } from "../../../files/files.ts";
import { isRecord, isTexts, parseJson } from "../../../json/json.ts";
import type { Logger } from "../../../log.ts";
import { UsageError } from "../../outcome.ts";

/** The largest file; the gateways of other offices that were changed longest ago give way. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The most that one gateway has of it, whatever names its Computers make up. */
const MAX_GATEWAY_BYTES = 4 * 1024 * 1024;
const MAX_GATEWAYS = 1_000;
/** The most names of Computers that a gateway keeps. */
const MAX_COMPUTERS = 5_000;
/** The most tools that were called that a gateway keeps. */
const MAX_PINNED = 10_000;

const NOTHING: KeptByGateway = { names: [], computers: [], pinned: [] };

/** By the offices of a gateway; `[]` for the only one of a program. */
type KeptByOffices = Map<string, KeptByGateway>;

/**
 * Read once and written after each change, one write at a time. The entries of several MCP clients may name one file: what
 * another gateway has written meanwhile stays.
 */
export class GatewayState {
  readonly #path: string;
  readonly #log: Logger;
  readonly #kept = new BoundedMap<string, KeptByGateway>(MAX_GATEWAYS);
  /** The names of the gateways of this program that the file has. */
  readonly #written = new BoundedMap<string, readonly GivenName[]>(MAX_GATEWAYS);
  readonly #changed = new Set<string>();
  #writing: Promise<void> | undefined;

  private constructor(path: string, kept: KeptByOffices, logger: Logger) {
    this.#path = path;
    this.#log = logger;
    for (const [key, each] of kept) {
      this.#kept.set(key, each);
      this.#written.set(key, each.names);
    }
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
    if (read.cause instanceof Deno.errors.NotFound) return new GatewayState(path, new Map(), logger);
    throw new UsageError(`Cannot read the names of tools from "${path}": ${read.state}`, {
      cause: read.cause,
    });
  }

  /** What the gateway of these offices keeps, or the only one of a program. A failure is logged: it works without the file. */
  of(offices: readonly string[] = []): GatewayMemory {
    const key = JSON.stringify(offices);
    const [all, changed] = [this.#kept, this.#changed];
    return {
      get kept() {
        return all.get(key) ?? NOTHING;
      },
      keep: (kept) => {
        all.set(key, kept);
        changed.add(key);
        this.#writing ??= this.#writeAll().finally(() => this.#writing = undefined);
      },
    };
  }

  /** The Computers of these offices whose tools have names. */
  computersOf(offices: readonly string[]): readonly string[] {
    const found = [...this.#kept].flatMap(([key, { names, computers }]): readonly Named[] => {
      const [office, ...others] = officesOf(key);
      if (others.length > 0) return computers.filter((each) => offices.includes(each.office));
      return office !== undefined && offices.includes(office) ? names : [];
    });
    return [...new Set(found.map(({ computer }) => computer))];
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#changed.size > 0) {
      const keys = [...this.#changed];
      this.#changed.clear();
      try {
        const read = await readRegularFile(this.#path, { maxBytes: MAX_BYTES });
        const file: KeptByOffices = "text" in read ? parseState(this.#path, read.text) : new Map();
        const changed = new Map(keys.map((key) => [key, this.#kept.get(key) ?? NOTHING]));
        for (const [key, kept] of changed) {
          const all = this.#fitting(withOthers(kept, file.get(key) ?? NOTHING, this.#written.get(key)));
          file.delete(key);
          file.set(key, all);
        }
        await replaceFile(this.#path, toText(file), { mode: 0o600 });
        for (const [key, { names }] of changed) this.#written.set(key, names);
      } catch (error) {
        this.#log.error("names of tools not kept", { file: this.#path, error: describeFileError(error) });
      }
    }
  }

  /** Without the longest names, which a Computer may make up, when all together are too large. */
  #fitting({ names, computers, pinned }: KeptByGateway): KeptByGateway {
    let room = MAX_GATEWAY_BYTES - sizeOf([...computers, ...pinned]);
    const sizes = new Map(names.map((name) => [name, sizeOf([name])]));
    const bySize = names.toSorted((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0));
    const fitting = new Set(bySize.filter((name) => (room -= sizes.get(name) ?? 0) >= 0));
    const left = names.length - fitting.size;
    if (left > 0) this.#log.warn("names of tools not kept: there are too many", { file: this.#path, left });
    return { names: names.filter((name) => fitting.has(name)), computers, pinned };
  }
}

/** What a gateway keeps, and what another one of the same offices has written into the file and this one leaves free. */
function withOthers(
  { names, computers, pinned }: KeptByGateway,
  file: KeptByGateway,
  written: readonly GivenName[] = [],
): KeptByGateway {
  const own = new Set([...written, ...names].map(keyOf));
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

/** The text of the file, with those that were changed last. */
function toText(file: KeptByOffices): string {
  let room = MAX_BYTES;
  const fitting = [...file].reverse().filter(([, { names, computers, pinned }]) =>
    (room -= sizeOf([...names, ...computers, ...pinned])) >= 0
  ).reverse();
  const { names = [], ...own } = toFields(new Map(fitting).get(ONLY) ?? NOTHING);
  const offices = fitting.filter(([key]) => key !== ONLY)
    .map(([key, kept]) => ({ offices: JSON.parse(key), ...toFields(kept) }));
  const several = offices.length === 0 ? {} : { gateways: offices };
  return `${JSON.stringify({ version: 1, names, ...own, ...several }, null, 1)}\n`;
}

type Named = Pick<GivenName, "computer">;

const ONLY = JSON.stringify([]);

function officesOf(key: string): readonly string[] {
  const offices = parseJson(key);
  return isTexts(offices) ? offices : [];
}

function toFields({ names, computers, pinned }: KeptByGateway) {
  return {
    names,
    ...(computers.length === 0 ? {} : { computers }),
    ...(pinned.length === 0 ? {} : { called: pinned }),
  };
}

/** More bytes than entries take in the file, with their line feeds and spaces. */
function sizeOf(entries: readonly unknown[]): number {
  return new TextEncoder().encode(JSON.stringify([[[entries]]], null, 1)).length;
}

function keyOf({ computer, tool }: Pick<GivenName, "computer" | "tool">): string {
  return JSON.stringify([computer, tool]);
}

function placeOf({ office, computer }: GivenComputerName): string {
  return JSON.stringify([office, computer]);
}

function parseState(path: string, text: string): KeptByOffices {
  if (text.trim() === "") return new Map();
  const value = parseJson(text);
  if (!isRecord(value) || !Array.isArray(value["names"])) {
    throw new UsageError(
      `Cannot read the names of tools from "${path}": it is no file that this command has written; give another path`,
    );
  }
  const gateways: unknown[] = Array.isArray(value["gateways"]) ? value["gateways"] : [];
  const known = gateways.filter(isRecord).filter(({ offices }) => isTexts(offices));
  return new Map([{ ...value, offices: [] }, ...known].map((each: Record<string, unknown>) => [
    JSON.stringify(each["offices"]),
    {
      names: entriesOf(each["names"], ["computer", "tool", "name"]),
      computers: entriesOf(each["computers"], ["office", "computer", "name"]),
      pinned: entriesOf(each["called"], ["computer", "tool", "digest"]),
    },
  ]));
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
