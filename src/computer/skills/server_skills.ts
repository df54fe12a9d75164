/**
 * The skills of one MCP server: the entries of its `skills/list`, or what it lists below `skill://`, and the front matter of
 * each `SKILL.md`. No text of a skill stays in memory: a file is read from the MCP server when an Agent wants it.
 */
import { isRecord } from "../../json/json.ts";
import { ServerList } from "../../mcp/server_list.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import type { McpResource, ResourceContents } from "../../protocol/resources.ts";
import { SKILL_FILE, type SkillRef } from "../../protocol/skills.ts";
import { describeError } from "../../text/text.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import { EntryCache, type FreshValue } from "../resources/cache.ts";
import { SKILL_BUDGET } from "./folder.ts";
import { FrontMatterReader, HEAD_BYTES, scalarText, toSkillRef } from "./front_matter.ts";
import { isSkillWord, SKILL_WORD_RULE } from "./names.ts";
import { type SkillEntry, toSkillEntries } from "./skill_entries.ts";

/** What MCP servers may say of a skill in `_meta.source`: how its files are read. Only `resources` is supported. */
const KINDS = ["resources", "mounted", "archive"];

/** What a listed resource says that matters for skills. */
export type SkillResource = Pick<McpResource, "uri" | "_meta">;

interface ListedSkill {
  readonly uri: string;
  readonly version: string | undefined;
  /** The URI of each file by its path in the skill. */
  readonly files: ReadonlyMap<string, string>;
  /** Its entry, when the server speaks the Skills extension of MCP. */
  readonly entry?: SkillEntry | undefined;
}

export interface ServerSkill extends ListedSkill {
  /** The front matter of its `SKILL.md`, or why the skill cannot be used; `undefined` before the first read. */
  readonly read: Readonly<Record<string, unknown>> | string | undefined;
}

export interface ServerSkillsContext extends Pick<SharedParts, "limits" | "warnOnce"> {
  readonly onChange: () => void;
}

export class ServerSkills {
  readonly server: SupervisedServer;
  readonly #context: ServerSkillsContext;
  readonly #cache: EntryCache<NonNullable<ServerSkill["read"]>>;
  readonly #reader = new FrontMatterReader();
  /** The list of a server that speaks the Skills extension. */
  readonly #entries: ServerList<unknown, SkillEntry[]>;
  #listed: ReadonlyMap<string, ListedSkill> = new Map();
  #isLoading = false;

  constructor(server: SupervisedServer, context: ServerSkillsContext) {
    this.server = server;
    this.#context = context;
    const { limits: { concurrency, documentMaxAgeMs: maxAgeMs, readTimeoutMs: timeoutMs } } = context;
    this.#cache = new EntryCache({
      read: (uri) => this.#read(uri),
      bounds: { ...SKILL_BUDGET, onTooLarge: () => "left out: its front matter is too large" },
      onValue: (uri, value) => value === undefined && this.#reader.forget(uri),
      onFailure: () => {},
      concurrency,
      maxAgeMs,
      now: () => performance.now(),
    });
    this.#entries = new ServerList({
      server,
      kind: "skills",
      read: (connection) => connection.listEntries("skills", { timeoutMs }),
      take: (entries) =>
        Promise.resolve(toSkillEntries(entries, (message, uri) => this.#warn(message, { uri }))),
      onList: (entries) => this.#follow(entries.map(toListedSkill)),
      onFailure: (error) => this.#warn("cannot list skills", { error: describeError(error) }),
    });
  }

  /** Whether the server lists its skills by the Skills extension; its resources are no skills then. */
  get #hasEntries(): boolean {
    return this.server.connection?.capabilities.skills === true;
  }

  /** The last known skills, in the order of the server's list; none while the server is failed or stopped. */
  get skills(): readonly ServerSkill[] {
    const { status } = this.server.state;
    if (status === "failed" || status === "stopped") return [];
    return [...this.#listed.values()].map((skill) => ({
      ...skill,
      read: skill.entry?.frontMatter ?? this.#cache.get(skill.uri),
    }));
  }

  /** Takes the `skill://` resources of a new list. */
  take(resources: readonly SkillResource[]): void {
    if (this.#hasEntries || resources.length === 0 && this.#listed.size === 0) return;
    this.#follow(toSkills(resources, (message, uri) => this.#warn(message, { uri })));
  }

  #follow(found: readonly ListedSkill[]): void {
    const before = this.#listed;
    const { maxListed } = this.#context.limits;
    if (found.length > maxListed) {
      this.#warn("skills are left out: too many", { count: found.length, maxListed });
    }
    this.#listed = new Map(found.slice(0, maxListed).map((skill) => [skill.uri, skill]));
    const unread = this.#listed.values().filter(({ entry }) => entry === undefined).toArray();
    this.#cache.follow(new Set(unread.map(({ uri }) => uri)));
    for (const { uri, files } of unread) {
      // What is not announced is read again when it is old.
      this.#cache.markSubscribed(uri, -Infinity);
      if (before.get(uri)?.files.get(SKILL_FILE) !== files.get(SKILL_FILE)) this.#cache.invalidate(uri);
    }
    if (!isSameList(before, this.#listed)) this.#context.onChange();
    void this.#load();
  }

  /** Handles `notifications/resources/updated` of a `skill://` URI. */
  onUpdated(uri: string): void {
    const changed = this.#listed.keys().find((root) => uri === root || uri.startsWith(`${root}/`));
    if (changed === undefined) return;
    if (this.#hasEntries) return this.#entries.onChanged();
    this.#cache.invalidate(changed);
    this.#context.onChange();
    // During a read, the next request reads it again: some servers tell of a change at every read.
    if (!this.#isLoading) void this.#load();
  }

  /** A new session runs: everything may be different. */
  onRunning(): void {
    this.#cache.invalidateAll();
    if (this.#hasEntries) this.#entries.restart();
    // It speaks the extension no longer.
    else if (this.#listed.values().some(({ entry }) => entry !== undefined)) this.#follow([]);
  }

  /** The list of resources has changed, so the skills may have, too: nothing else tells of it. */
  onListChanged(): void {
    if (this.#hasEntries) this.#entries.onChanged();
  }

  /** The server is failed, stopped or removed. Idempotent. */
  onStopped(): void {
    this.#entries.onStopped();
  }

  /** Reads what is new or old; after `withinMs` that goes on in the background, and the last known skills are used. */
  async refresh(withinMs: number): Promise<void> {
    if (await (this.#hasEntries ? this.#entries.refresh(withinMs) : this.#load(withinMs))) return;
    this.#warn("MCP server is slow; its last known skills are used", {});
  }

  /** A skill of an entry as it is now. */
  async renew(uri: string): Promise<ServerSkill | undefined> {
    this.#entries.expire();
    await this.#entries.refresh(this.#context.limits.readTimeoutMs);
    return this.skills.find((skill) => skill.uri === uri);
  }

  /** Reads each `SKILL.md` that has to be read; resolves to whether all of them were read in time. Never rejects. */
  async #load(withinMs = this.#context.limits.readTimeoutMs): Promise<boolean> {
    if (this.server.state.status !== "running") return true;
    this.#isLoading = true;
    const isRead = await this.#cache.refreshAll(withinMs);
    this.#isLoading = false;
    return isRead;
  }

  /** The front matter of a skill, or why it cannot be used; the last known one after a failure, until the next request. */
  async #read(root: string): Promise<FreshValue<NonNullable<ServerSkill["read"]>>> {
    const uri = this.#listed.get(root)?.files.get(SKILL_FILE);
    if (uri === undefined) return { value: `the MCP server lists no ${SKILL_FILE} of it` };
    const known = this.#cache.get(root);
    try {
      const timeoutMs = this.#context.limits.readTimeoutMs;
      const result = await this.server.use((connection) => connection.readResource(uri, { timeoutMs }));
      const value = await this.#readHead(root, result.contents);
      if (JSON.stringify(known) !== JSON.stringify(value)) this.#context.onChange();
      return { value };
    } catch (error) {
      this.#warn("cannot read a skill", { uri, error: describeError(error) });
      if (isRecord(known)) return { value: known, freshMs: 0 };
      return { value: `${SKILL_FILE} cannot be read: ${describeError(error)}` };
    }
  }

  async #readHead(
    root: string,
    contents: readonly ResourceContents[],
  ): Promise<NonNullable<ServerSkill["read"]>> {
    // A copy: the rest need not wait in memory until the front matter has its turn.
    const head = bytesOf(contents).slice(0, HEAD_BYTES);
    const { members, problem = "" } = await this.#reader.read(root, head);
    return members ?? `${SKILL_FILE} cannot be used: ${problem}`;
  }

  #warn(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#context.warnOnce.warn(message, { server: this.server.name, ...fields });
  }
}

function toListedSkill(entry: SkillEntry): ListedSkill {
  return { uri: entry.uri, version: undefined, files: new Map(), entry };
}

/** A skill of an MCP server as it is listed, or why it cannot be used; `undefined` while it is not read yet. */
export function toListed(skill: ServerSkill, segment: string): SkillRef | string | undefined {
  const { read, uri, version } = skill;
  if (read === undefined || typeof read === "string") return read;
  const word = wordOf(skill);
  if (word === undefined) return `its front matter has no name, or one that is not ${SKILL_WORD_RULE}`;
  const origin = { name: `mcp:${segment}:${word}`, source: `mcp:${segment}`, path: uri, uri, version };
  return toSkillRef(read, origin) ?? 'it has no description; add "description: …" to its front matter';
}

/** The name that a skill of an MCP server gives itself; `undefined` for one that cannot be used. */
export function wordOf({ read, entry }: ServerSkill): string | undefined {
  const name = entry?.word ?? (typeof read === "object" ? read["name"] : undefined);
  return typeof name === "string" && isSkillWord(name) ? name : undefined;
}

/** The bytes of all parts of a resource. */
export function bytesOf(contents: readonly ResourceContents[]): Uint8Array<ArrayBuffer> {
  const parts = contents.map(({ text, blob }) =>
    // Some servers write null for an absent member.
    typeof text === "string" ? new TextEncoder().encode(text) : Uint8Array.fromBase64(blob ?? "")
  );
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Finds the skills among the `skill://` resources of a list. What lies below a skill is a file of it. */
export function toSkills(
  resources: readonly SkillResource[],
  warn: (message: string, uri: string) => void,
): ListedSkill[] {
  const roots = new Map(
    resources.filter((resource) => KINDS.includes(kindOf(resource)) && hasPath(resource.uri))
      .map((root): [string, Found] => [root.uri, { root, files: new Map() }]),
  );
  const owners = ownersOf(resources.map(({ uri }) => uri), roots);
  for (const [uri, owner] of owners) roots.get(owner)?.files.set(uri.slice(owner.length + 1), uri);
  const skills: ListedSkill[] = [];
  for (const [uri, { root, files }] of roots) {
    // A root below another root is a file of that one.
    if (owners.has(uri)) continue;
    if (kindOf(root) !== "resources") {
      warn(`a skill is left out: its source "${kindOf(root)}" is not supported, only "resources" is`, uri);
      continue;
    }
    skills.push({ uri, version: scalarText(root._meta?.["version"]), files });
  }
  return skills;
}

/** The root of a skill, and the URI of each file by its path in the skill. */
interface Found {
  readonly root: SkillResource;
  readonly files: Map<string, string>;
}

/** The outermost root that each URI lies below, without the URIs that lie below none. */
function ownersOf(uris: readonly string[], roots: ReadonlyMap<string, unknown>): Map<string, string> {
  const owners = new Map<string, string>();
  let root: string | undefined;
  // With a slash at the end, a root is followed by all that lies below it. A look at every prefix would take minutes for
  // long paths.
  for (const path of uris.map((uri) => `${uri}/`).toSorted()) {
    const uri = path.slice(0, -1);
    if (root === undefined || !path.startsWith(root)) root = roots.has(uri) ? path : undefined;
    else if (path.length > root.length + 1) owners.set(uri, root.slice(0, -1));
  }
  return owners;
}

function kindOf({ _meta }: SkillResource): string {
  const source = _meta?.["source"];
  return typeof source === "string" ? source : "";
}

/** Whether a URI has a host and at least one segment. */
function hasPath(uri: string): boolean {
  return /^skill:\/\/[^/]+\/[^/]+/.test(uri);
}

function isSameList(
  before: ReadonlyMap<string, ListedSkill>,
  after: ReadonlyMap<string, ListedSkill>,
): boolean {
  const shapeOf = (listed: ReadonlyMap<string, ListedSkill>) =>
    JSON.stringify([...listed.values()].map(({ uri, version, files, entry }) => [
      uri,
      version,
      ...files.values(),
      ...entry === undefined ? [] : [entry.word, entry.frontMatter, [...entry.sums?.values() ?? []]],
    ]));
  return shapeOf(before) === shapeOf(after);
}
