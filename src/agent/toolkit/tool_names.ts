/** Names of tools that MCP clients and model providers accept, unique among all Computers of an office. */

/** The most characters of a name: clients allow 64, and put a prefix of their own before it. */
export const MAX_NAME_LENGTH = 48;
/**
 * The most names that are remembered; then those of tools that are gone are forgotten, the oldest first, of the Computers
 * that have had the most: none makes the names of another one forgotten, which it could take then.
 */
const MAX_REMEMBERED = 20_000;
/** The most characters of the name of a tool on its Computer, since names are remembered. */
export const MAX_TOOL_NAME_LENGTH = 1_024;
const SUFFIX_LENGTH = 6;

/** A tool before it has a name for clients. */
export interface ToolAddress {
  /** The Computer. */
  readonly computer: string;
  /** The name of the tool on the Computer. */
  readonly tool: string;
  /** The MCP server, where a name is unique in its MCP server alone, such as that of a prompt. */
  readonly mcpServer?: string | undefined;
  /** The id of the machine of the Computer, if it has one: the names of a machine do not go to another one of its name. */
  readonly machine?: string | undefined;
}

/** A name that was given, as it is kept over restarts. */
export interface GivenName extends ToolAddress {
  /** The name for clients. */
  readonly name: string;
}

export interface ToolNameOptions {
  readonly reserved?: Iterable<string> | undefined;
  /** Names given before, such as by an earlier run. */
  readonly given?: Iterable<GivenName> | undefined;
}

/**
 * Gives each tool a name and keeps it: a newcomer never renames an older tool. A tool has its bare name while nobody else
 * offers that one. Tools that come at the same time and share a name are all called `{computer}__{tool}`, and so is one
 * whose bare name begins with another Computer: it would pass for a tool of that one. A name that is too long, or still
 * taken, ends with a suffix that depends on Computer and tool alone. So without a history the names are a function of the
 * set of tools.
 */
export class ToolNames {
  readonly #reserved: ReadonlySet<string>;
  readonly #names = new Map<string, GivenName>();
  readonly #owners = new Map<string, string>();

  constructor({ reserved = [], given = [] }: ToolNameOptions = {}) {
    this.#reserved = new Set(reserved);
    for (const { name, ...address } of given) {
      const isNew = this.nameOf(address) === undefined;
      if (isNew && this.#isFree(name) && isAccepted(name)) this.#give(address, name);
    }
  }

  /** The names given so far, for a file that keeps them. */
  get given(): GivenName[] {
    return [...this.#names.values()];
  }

  /** The name of a tool; `undefined` before {@linkcode assign} saw it. */
  nameOf(address: ToolAddress): string | undefined {
    return this.#find(address)?.name;
  }

  /** The tool that has a name, or had it. */
  addressOf(name: string): ToolAddress | undefined {
    return this.#names.get(this.#owners.get(name) ?? "");
  }

  #find(address: ToolAddress): GivenName | undefined {
    const given = this.#names.get(keyOf(address));
    return given !== undefined && isOfMachine(given, address)
      ? given
      : this.#names.get(keyOfMachine(address));
  }

  /**
   * Names the tools that have no name yet.
   *
   * @param tools All tools that are offered now, in any order.
   * @return Whether a name was given, or the machine of one is known now.
   */
  assign(tools: readonly ToolAddress[]): boolean {
    const isAnyKnown = tools.map((address) => this.#learnMachine(address)).includes(true);
    const nameless = tools.filter((address) => this.#find(address) === undefined).sort(byAddress);
    const claims = new Map<string, number>();
    for (const { tool } of nameless) claims.set(toSafeName(tool), (claims.get(toSafeName(tool)) ?? 0) + 1);
    const computers = new Set(tools.map(toPrefix));
    const isAlone = (address: ToolAddress) =>
      claims.get(toSafeName(address.tool)) === 1 && !passesForOther(address, computers);
    // Whoever gets its bare name goes first, so that a made-up name never takes it.
    const isBare = (address: ToolAddress) => isAlone(address) && isWhole(toSafeName(address.tool));
    const claimants = [...nameless.filter(isBare), ...nameless.filter((address) => !isBare(address))];
    for (const address of claimants) this.#give(address, this.#choose(address, isAlone(address)));
    this.#forget(tools);
    return isAnyKnown || nameless.length > 0;
  }

  #learnMachine(address: ToolAddress): boolean {
    const { machine } = address;
    const given = this.#names.get(keyOf(address));
    if (machine === undefined || given === undefined || given.machine !== undefined) return false;
    this.#names.set(keyOf(address), { ...given, machine });
    return true;
  }

  #choose(address: ToolAddress, isAlone: boolean): string {
    const bare = toSafeName(address.tool);
    if (isAlone && isWhole(bare) && this.#isFree(bare)) return bare;
    const long = isAlone && !isWhole(bare) ? bare : `${toPrefix(address)}${bare}`;
    return isWhole(long) && this.#isFree(long) ? long : this.#withSuffix(long, address);
  }

  #withSuffix(name: string, address: ToolAddress): string {
    for (let round = 0;; round++) {
      const suffix = hash(`${this.#keyFor(address)} ${round}`);
      const candidate = `${name.slice(0, MAX_NAME_LENGTH - SUFFIX_LENGTH - 1)}_${suffix}`;
      if (this.#isFree(candidate)) return candidate;
    }
  }

  #isFree(name: string): boolean {
    return !this.#reserved.has(name) && !this.#owners.has(name);
  }

  #give(address: ToolAddress, name: string): void {
    const key = this.#keyFor(address);
    this.#names.set(key, { ...address, name });
    this.#owners.set(name, key);
  }

  /** The machine is part of it only where another one has had the name. */
  #keyFor(address: ToolAddress): string {
    const given = this.#names.get(keyOf(address));
    return given === undefined || isOfMachine(given, address) ? keyOf(address) : keyOfMachine(address);
  }

  #forget(tools: readonly ToolAddress[]): void {
    const excess = this.#names.size - MAX_REMEMBERED;
    if (excess <= 0) return;
    const offered = new Set(tools.map((address) => this.#keyFor(address)));
    const gone = Map.groupBy(
      [...this.#names].filter(([key]) => !offered.has(key)),
      ([, { computer }]) => computer,
    );
    for (let left = excess; left > 0; left--) {
      const most = [...gone.values()].reduce((one, other) => other.length > one.length ? other : one, []);
      const oldest = most.shift();
      if (oldest === undefined) return;
      this.#names.delete(oldest[0]);
      this.#owners.delete(oldest[1].name);
    }
  }
}

/** What stands before the name of a tool to tell its Computer. */
function toPrefix({ computer }: ToolAddress): string {
  return `${toSafeName(computer, "computer")}__`;
}

/** Whether the bare name of a tool reads like the name of a tool of another one of these Computers. */
function passesForOther(address: ToolAddress, prefixes: ReadonlySet<string>): boolean {
  const bare = toSafeName(address.tool);
  const own = toPrefix(address);
  for (let end = bare.indexOf("__"); end >= 0; end = bare.indexOf("__", end + 1)) {
    const prefix = bare.slice(0, end + 2);
    if (prefix !== own && prefixes.has(prefix)) return true;
  }
  return false;
}

function isWhole(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH;
}

/** A file of names may have been edited. */
function isAccepted(name: string): boolean {
  return isWhole(name) && /^[a-zA-Z0-9_-]+$/.test(name);
}

function keyOf({ computer, tool, mcpServer }: ToolAddress): string {
  return JSON.stringify(mcpServer === undefined ? [computer, tool] : [computer, tool, mcpServer]);
}

function keyOfMachine({ machine, ...address }: ToolAddress): string {
  return JSON.stringify([keyOf(address), machine]);
}

/** Whether a name was given to a tool of this machine, or before its machine was known. */
function isOfMachine(given: GivenName, { machine }: ToolAddress): boolean {
  return given.machine === undefined || given.machine === machine;
}

function byAddress(one: ToolAddress, other: ToolAddress): number {
  const [first, second] = [keyOf(one), keyOf(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** The name with `_` for each run of characters that clients do not accept; `fallback` when nothing is left of it. */
function toSafeName(text: string, fallback = "tool"): string {
  const safe = text.replaceAll(/[^a-zA-Z0-9_-]+/g, "_");
  return /[a-zA-Z0-9]/.test(safe) ? safe : fallback;
}

/** Six letters and digits that tell similar names apart: FNV-1a in 32 bits. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(36).padStart(SUFFIX_LENGTH, "0").slice(-SUFFIX_LENGTH);
}
