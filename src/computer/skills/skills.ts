/** The skills of a Computer: those of folders and those of MCP servers, by name. */
import { settledWithin } from "../../async/abortable.ts";
import type { Logger } from "../../log.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import type { MCPServerConfig } from "../../protocol/config.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { SkillRef } from "../../protocol/skills.ts";
import type { ListLimits, ReadLimits } from "../../config/limits.ts";
import { mayRead, SkillFolder, type SkillListing, type SkillProblem } from "./folder.ts";
import { toSkillRef } from "./front_matter.ts";
import { invalidName, isSkillWord, parseSkillName, SKILL_WORD_RULE, skillNotFound } from "./names.ts";
import { type ServerSkill, ServerSkills, type SkillResource } from "./server_skills.ts";

/** Changes that follow one another within this time, in milliseconds, are announced together, at its end. */
const SETTLE_MS = 300;
/**
 * How long a list waits for an MCP server, in milliseconds. What arrives later is announced, so nobody waits for a server
 * that hangs.
 */
const SERVER_DEADLINE_MS = 1_000;

export interface SkillRules {
  readonly hasTags: boolean;
  /** The part of a skill's name that stands for its MCP server. */
  readonly segmentOf: (server: MCPServerConfig) => string;
}

export interface SkillsContext {
  readonly fleet: Fleet;
  readonly rules: SkillRules;
  readonly limits: ReadLimits & Pick<ListLimits, "maxSkills">;
  readonly log: Logger;
  readonly warnOnce: WarnOnce;
  /** Lists the resources of a server again, if they may have changed. */
  readonly refreshList: (server: SupervisedServer, timeoutMs: number) => Promise<void>;
  readonly onChange: () => void;
}

export type FoundSkill =
  | { readonly kind: "folder"; readonly root: string }
  | { readonly kind: "server"; readonly server: SupervisedServer; readonly skill: ServerSkill };

export class Skills {
  readonly #context: SkillsContext;
  readonly #servers = new Map<SupervisedServer, ServerSkills>();
  #folders: readonly SkillFolder[] = [];
  /** Folders that are not used any more, while they end. */
  #ending: Promise<unknown> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAsked = false;
  #isClosed = false;

  constructor(context: SkillsContext) {
    this.#context = context;
  }

  /** Takes the folders of skills, first in order of precedence, in place of those before. */
  follow(paths: readonly string[]): void {
    const given = [...new Set(paths)];
    if (JSON.stringify(given) === JSON.stringify(this.#folders.map((folder) => folder.given))) return;
    const { limits: { maxSkills }, log } = this.#context;
    this.#ending = Promise.all([this.#ending, ...this.#folders.map((folder) => folder.close())]);
    this.#folders = given.map((path) => new SkillFolder(path, { maxSkills }));
    for (const folder of this.#folders) folder.watch({ log, onChange: () => this.#changed() });
    this.#lookAhead(this.#folders);
    this.#changed();
  }

  /** Whether there may be a skill: there is a folder for skills, or an MCP server lists some. */
  get mayHaveAny(): boolean {
    return this.#folders.length > 0 || this.#servers.values().some(({ skills }) => skills.length > 0);
  }

  /** Whether skills of MCP servers were asked for, so that lists of resources are followed for their sake. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** All skills under their names, and what keeps others from being listed. */
  async list(): Promise<SkillListing> {
    const [scans] = await Promise.all([
      Promise.all(this.#folders.map(async (folder) => ({ from: folder.given, ...await folder.scan() }))),
      this.#refresh(this.#context.fleet.servers),
    ]);
    if (scans.some(({ hasChanged }) => hasChanged)) this.#changed();
    const listing = this.#merge(scans);
    this.#warnOf(listing);
    return listing;
  }

  /**
   * Finds a skill.
   *
   * @throws {SmcpError} 4014 when there is none of this name, 4016 when the name is malformed.
   */
  async find(name: string): Promise<FoundSkill> {
    const parsed = parseSkillName(name);
    const found = parsed?.kind === "user"
      ? await this.#findInFolders(parsed.skill)
      : parsed?.kind === "mcp"
      ? await this.#findAtServers(parsed)
      : undefined;
    if (found !== undefined) return found;
    if (!this.mayHaveAny) {
      throw new SmcpError(
        ErrorCode.MCP_SERVER_NOT_FOUND,
        "Skill does not exist: this Computer has no skills",
      );
    }
    if (parsed === undefined) throw invalidName(name);
    throw skillNotFound(name, (await this.list()).skills.map((skill) => skill.name));
  }

  /** Takes the `skill://` resources of a new list. */
  take(server: SupervisedServer, resources: readonly SkillResource[]): void {
    if (resources.length > 0 || this.#servers.has(server)) this.#skillsOf(server).take(resources);
  }

  onUpdated(server: SupervisedServer, uri: string): void {
    this.#servers.get(server)?.onUpdated(uri);
  }

  onRunning(server: SupervisedServer): void {
    this.#servers.get(server)?.onRunning();
  }

  /** The server is failed or stopped: its skills are hidden until it runs again. */
  onStopped(server: SupervisedServer): void {
    if (this.#servers.has(server)) this.#changed();
  }

  remove(server: SupervisedServer): void {
    if (this.#servers.delete(server)) this.#changed();
  }

  /** Stops watching. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // A scan that runs would otherwise outlive the Computer.
    await Promise.all([this.#ending, ...this.#folders.map((folder) => folder.close())]);
  }

  /** Looks at new folders now: their owner learns of a mistake when the Computer starts, not at the first request. */
  #lookAhead(folders: readonly SkillFolder[]): void {
    if (folders.length === 0) return;
    void Promise.all(folders.map(lookAt)).then((scans) => {
      if (!this.#isClosed && folders === this.#folders) this.#warnOf(this.#merge(scans));
    });
  }

  #warnOf({ problems }: SkillListing): void {
    for (const { message, ...fields } of problems) {
      this.#context.warnOnce.warn("a skill cannot be used", { ...fields, problem: message });
    }
  }

  #changed(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const folder of this.#folders) folder.onAnnounced();
      this.#context.onChange();
    }, SETTLE_MS);
  }

  #skillsOf(server: SupervisedServer): ServerSkills {
    let skills = this.#servers.get(server);
    if (skills === undefined) {
      const { limits, warnOnce } = this.#context;
      skills = new ServerSkills(server, { limits, warnOnce, onChange: () => this.#changed() });
      this.#servers.set(server, skills);
    }
    return skills;
  }

  /** Brings servers up to date, each within the deadline. */
  async #refresh(servers: readonly SupervisedServer[]): Promise<void> {
    this.#isAsked = true;
    const endMs = performance.now() + SERVER_DEADLINE_MS;
    await Promise.all(servers.map(async (server) => {
      if (server.connection?.capabilities.resources !== true) return;
      await settledWithin(this.#context.refreshList(server, SERVER_DEADLINE_MS), SERVER_DEADLINE_MS);
      await this.#servers.get(server)?.refresh(Math.max(0, endMs - performance.now()));
    }));
  }

  async #findInFolders(skill: string): Promise<FoundSkill | undefined> {
    for (const folder of this.#folders) {
      const found = await folder.find(skill);
      if (found !== undefined) return { kind: "folder", root: found.path };
    }
    return undefined;
  }

  async #findAtServers(
    wanted: { readonly segment: string; readonly skill: string },
  ): Promise<FoundSkill | undefined> {
    const { fleet, rules } = this.#context;
    const servers = fleet.servers.filter(({ config }) => rules.segmentOf(config) === wanted.segment);
    const find = (): FoundSkill | undefined => {
      for (const server of servers) {
        const skill = this.#servers.get(server)?.skills.find((each) => wordOf(each) === wanted.skill);
        if (skill !== undefined) return { kind: "server", server, skill };
      }
      return undefined;
    };
    const known = find();
    if (known !== undefined) return known;
    await this.#refresh(servers);
    return find();
  }

  /** All skills under their names. Of two with one name, the first counts. */
  #merge(scans: readonly (SkillListing & { readonly from: string })[]): SkillListing {
    const { fleet, rules } = this.#context;
    const skills = new Map<string, SkillRef>();
    const problems: SkillProblem[] = [];
    const owners = new Map<string, string>();
    const add = (skill: SkillRef, { from, path }: { readonly from: string; readonly path: string }) => {
      const owner = owners.get(skill.name);
      if (owner !== undefined) {
        const message = `left out: "${owner}" has a skill "${skill.name}" as well; rename one of them`;
        return void problems.push({ from, path, message });
      }
      owners.set(skill.name, from);
      const { tags: _tags, ...rest } = skill;
      skills.set(skill.name, rules.hasTags ? skill : rest);
    };
    for (const { from, ...scan } of scans) {
      for (const skill of scan.skills) add(skill, { from, path: skill.path });
      problems.push(...scan.problems);
    }
    for (const server of fleet.servers) {
      const segment = rules.segmentOf(server.config);
      for (const skill of this.#servers.get(server)?.skills ?? []) {
        const place = { from: server.name, path: skill.uri };
        const found = toListed(skill, segment);
        if (typeof found === "string") problems.push({ ...place, message: found });
        else if (found !== undefined) add(found, place);
      }
    }
    return { skills: [...skills.values()], problems };
  }
}

/** Lists the skills of a folder; without the permission, for which a terminal would be asked, only says so. */
async function lookAt(folder: SkillFolder): Promise<SkillListing & { readonly from: string }> {
  const { given: from, path } = folder;
  if (mayRead(path)) return { from, ...await folder.scan() };
  return { from, skills: [], problems: [{ from, path: from, message: "reading it needs --allow-read" }] };
}

/** A skill of an MCP server as it is listed, or why it cannot be used; `undefined` while it is not read yet. */
function toListed(skill: ServerSkill, segment: string): SkillRef | string | undefined {
  const { read, uri, version } = skill;
  if (read === undefined || typeof read === "string") return read;
  const word = wordOf(skill);
  if (word === undefined) return `its front matter has no name, or one that is not ${SKILL_WORD_RULE}`;
  const origin = { name: `mcp:${segment}:${word}`, source: `mcp:${segment}`, path: uri, uri, version };
  return toSkillRef(read, origin) ?? 'it has no description; add "description: …" to its front matter';
}

/** The name that a skill of an MCP server gives itself; `undefined` for one that cannot be used. */
function wordOf({ read }: ServerSkill): string | undefined {
  const name = typeof read === "object" ? read["name"] : undefined;
  return typeof name === "string" && isSkillWord(name) ? name : undefined;
}
