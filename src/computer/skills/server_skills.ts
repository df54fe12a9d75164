/**
 * The skills of one MCP server: what it lists below `skill://`, and the front matter of each `SKILL.md`. No text of a skill
 * stays in memory: a file is read from the MCP server when an Agent wants it.
 */
import { settledWithin } from "../../async/abortable.ts";
import { forEachBounded } from "../../async/pool.ts";
import { isRecord } from "../../json/json.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import type { McpResource, ResourceContents } from "../../protocol/resources.ts";
import { SKILL_FILE } from "../../protocol/skills.ts";
import { describeError } from "../../text/text.ts";
import type { ReadLimits } from "../../config/limits.ts";
import { ByteBudget } from "../resources/byte_budget.ts";
import { SKILL_BUDGET } from "./folder.ts";
import { FrontMatterReader, HEAD_BYTES, scalarText } from "./front_matter.ts";

/** What MCP servers may say of a skill in `_meta.source`: how its files are read. Only `resources` is supported. */
const KINDS = ["resources", "mounted", "archive"];

/** What a listed resource says that matters for skills. */
export type SkillResource = Pick<McpResource, "uri" | "_meta">;

export interface ServerSkill {
  readonly uri: string;
  readonly version: string | undefined;
  /** The URI of each file by its path in the skill. */
  readonly files: ReadonlyMap<string, string>;
  /** The front matter of its `SKILL.md`, or why the skill cannot be used; `undefined` before the first read. */
  readonly read: Readonly<Record<string, unknown>> | string | undefined;
}

/** A skill while its `SKILL.md` is read and read again. */
interface Entry {
  readonly skill: ServerSkill;
  /** When the last read of its `SKILL.md` began; `undefined` when it has to be read. */
  readonly readAtMs: number | undefined;
}

export interface ServerSkillsContext {
  readonly limits: Pick<ReadLimits, "readTimeoutMs" | "concurrency" | "documentMaxAgeMs"> & {
    readonly maxSkills: number;
  };
  readonly warnOnce: WarnOnce;
  readonly onChange: () => void;
}

export class ServerSkills {
  readonly server: SupervisedServer;
  readonly #context: ServerSkillsContext;
  #entries = new Map<string, Entry>();
  readonly #budget = new ByteBudget(SKILL_BUDGET);
  readonly #reader = new FrontMatterReader();
  #loading: Promise<void> | undefined;
  #isAgain = false;
  /** A caller gave up waiting for the running reads; no other caller waits for them. */
  #isLate = false;

  constructor(server: SupervisedServer, context: ServerSkillsContext) {
    this.server = server;
    this.#context = context;
  }

  /** The last known skills, in the order of the server's list; none while the server is failed or stopped. */
  get skills(): readonly ServerSkill[] {
    const { status } = this.server.state;
    if (status === "failed" || status === "stopped") return [];
    return [...this.#entries.values()].map(({ skill }) => skill);
  }

  /** Takes the `skill://` resources of a new list. */
  take(resources: readonly SkillResource[]): void {
    if (resources.length === 0 && this.#entries.size === 0) return;
    const { maxSkills } = this.#context.limits;
    const listed = toSkills(resources, (message, uri) => this.#warn(message, { uri }));
    if (listed.length > maxSkills) {
      this.#warn("skills are left out: too many", { count: listed.length, maxSkills });
    }
    const before = this.#entries;
    this.#entries = new Map(
      listed.slice(0, maxSkills).map((skill): [string, Entry] => {
        const old = before.get(skill.uri);
        const entryUri = skill.files.get(SKILL_FILE);
        const isSame = old !== undefined && old.skill.files.get(SKILL_FILE) === entryUri;
        return [skill.uri, {
          skill: { ...skill, read: isSame ? old.skill.read : undefined },
          readAtMs: isSame ? old.readAtMs : undefined,
        }];
      }),
    );
    for (const uri of before.keys()) if (!this.#entries.has(uri)) this.#release(uri);
    if (!isSameList(before, this.#entries)) this.#context.onChange();
    this.#load();
  }

  /** Handles `notifications/resources/updated` of a `skill://` URI. */
  onUpdated(uri: string): void {
    const changed = [...this.#entries.values()].find(({ skill }) =>
      uri === skill.uri || uri.startsWith(`${skill.uri}/`)
    );
    if (changed === undefined) return;
    this.#expire([changed]);
    this.#context.onChange();
    // During a read, the next request reads it again: some servers tell of a change at every read.
    if (this.#loading === undefined) this.#load();
  }

  /** A new session runs: everything may be different. */
  onRunning(): void {
    this.#expire([...this.#entries.values()]);
  }

  /** Reads what is new or old; after `withinMs` that goes on in the background, and the last known skills are used. */
  async refresh(withinMs: number): Promise<void> {
    const oldMs = performance.now() - this.#context.limits.documentMaxAgeMs;
    this.#expire([...this.#entries.values()].filter(({ readAtMs = Infinity }) => readAtMs < oldMs));
    this.#load();
    const done = this.#loading?.then(() => true);
    if (done === undefined) return;
    if (!this.#isLate && await settledWithin(done, withinMs)) return;
    this.#isLate = true;
    this.#warn("MCP server is slow; its last known skills are used", {});
  }

  #expire(entries: readonly Entry[]): void {
    for (const { skill } of entries) this.#entries.set(skill.uri, { skill, readAtMs: undefined });
  }

  /** Reads each `SKILL.md` that has to be read, in the background. */
  #load(): void {
    if (this.#loading !== undefined) {
      this.#isAgain = true;
      return;
    }
    if (this.server.state.status !== "running") return;
    const missing = [...this.#entries.values()].filter(({ readAtMs }) => readAtMs === undefined);
    if (missing.length === 0) return;
    this.#isAgain = false;
    const readAtMs = performance.now();
    for (const { skill } of missing) this.#entries.set(skill.uri, { skill, readAtMs });
    this.#loading = this.#loadAll(missing).finally(() => {
      this.#loading = undefined;
      this.#isLate = false;
      if (this.#isAgain) this.#load();
    });
  }

  /** Never rejects. */
  async #loadAll(missing: readonly Entry[]): Promise<void> {
    let hasChanged = false;
    await forEachBounded(missing, this.#context.limits.concurrency, async ({ skill }) => {
      const read = await this.#read(skill);
      const current = this.#entries.get(skill.uri);
      // It was removed from the list meanwhile.
      if (current === undefined) return this.#release(skill.uri);
      if (read === undefined) return this.#expire([current]);
      hasChanged ||= JSON.stringify(current.skill.read) !== JSON.stringify(read);
      // A change since the read began has expired the entry, which stays so.
      this.#entries.set(skill.uri, { ...current, skill: { ...current.skill, read } });
    });
    if (hasChanged) this.#context.onChange();
  }

  #release(uri: string): void {
    this.#budget.release(uri);
    this.#reader.forget(uri);
  }

  /** The front matter of a skill, or why it cannot be used; `undefined` when the last known one stays in use. */
  async #read(skill: ServerSkill): Promise<ServerSkill["read"]> {
    const uri = skill.files.get(SKILL_FILE);
    if (uri === undefined) return `the MCP server lists no ${SKILL_FILE} of it`;
    try {
      const timeoutMs = this.#context.limits.readTimeoutMs;
      const result = await this.server.use((connection) => connection.readResource(uri, { timeoutMs }));
      // A copy: the rest need not wait in memory until the front matter has its turn.
      const head = bytesOf(result.contents).slice(0, HEAD_BYTES);
      const { members, problem = "" } = await this.#reader.read(skill.uri, head);
      if (members === undefined) return `${SKILL_FILE} cannot be used: ${problem}`;
      return this.#budget.take(skill.uri, members) ? members : "left out: its front matter is too large";
    } catch (error) {
      this.#warn("cannot read a skill", { uri, error: describeError(error) });
      return isRecord(skill.read) ? undefined : `${SKILL_FILE} cannot be read: ${describeError(error)}`;
    }
  }

  #warn(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#context.warnOnce.warn(message, { server: this.server.name, ...fields });
  }
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
): ServerSkill[] {
  const roots = new Map(
    resources.filter((resource) => KINDS.includes(kindOf(resource)) && hasPath(resource.uri))
      .map((root): [string, Found] => [root.uri, { root, files: new Map() }]),
  );
  const owners = ownersOf(resources.map(({ uri }) => uri), roots);
  for (const [uri, owner] of owners) roots.get(owner)?.files.set(uri.slice(owner.length + 1), uri);
  const skills: ServerSkill[] = [];
  for (const [uri, { root, files }] of roots) {
    // A root below another root is a file of that one.
    if (owners.has(uri)) continue;
    if (kindOf(root) !== "resources") {
      warn(`a skill is left out: its source "${kindOf(root)}" is not supported, only "resources" is`, uri);
      continue;
    }
    skills.push({ uri, version: scalarText(root._meta?.["version"]), files, read: undefined });
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

function isSameList(before: ReadonlyMap<string, Entry>, after: ReadonlyMap<string, Entry>): boolean {
  const shapeOf = (entries: ReadonlyMap<string, Entry>) =>
    JSON.stringify(
      [...entries.values()].map(({ skill: { uri, version, files } }) => [uri, version, ...files.values()]),
    );
  return shapeOf(before) === shapeOf(after);
}
