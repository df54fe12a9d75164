/** The skills of a Computer: those of folders and those of MCP servers, by name. */
import { abortable, settledWithin } from "../../async/abortable.ts";
import { Limiter } from "../../async/limiter.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { GetSkillRet, SkillRef } from "../../protocol/skills.ts";
import type { SkillFolder, SkillListing, SkillProblem } from "./folder.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import { invalidName, parseSkillName, skillNotFound } from "./names.ts";
import type {
  ComputerSkills,
  FoundSkill,
  LocalSkillFile,
  LocalSkillOptions,
  SkillAnswerPlace,
  SkillFileRequest,
} from "./reading.ts";
import type { ServerSkills, SkillResource } from "./server_skills.ts";

/** Changes that follow one another within this time, in milliseconds, are announced together, at its end. */
const SETTLE_MS = 300;
/**
 * How long a list waits for an MCP server, in milliseconds. What arrives later is announced, so nobody waits for a server
 * that hangs.
 */
const SERVER_DEADLINE_MS = 1_000;
/** How many files are read for Agents at the same time: each is in memory until it is kept. */
const CONCURRENCY = 2;

export interface SkillsContext extends SharedParts {
  /** Lists the resources of a server again, if they may have changed. */
  readonly refreshList: (server: SupervisedServer, timeoutMs: number) => Promise<void>;
}

/** What most Computers never need: it is loaded with the first folder, or the first skill of an MCP server. */
type SkillModules = typeof import("./folder.ts") & typeof import("./server_skills.ts");

export class Skills implements ComputerSkills {
  readonly #context: SkillsContext;
  readonly #servers = new Map<SupervisedServer, ServerSkills>();
  readonly #turns = new Limiter(CONCURRENCY);
  #loading: Promise<SkillModules> | undefined;
  #modules: SkillModules | undefined;
  #paths: readonly string[] = [];
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
  follow(given: readonly string[]): void {
    const paths = [...new Set(given)];
    if (JSON.stringify(paths) === JSON.stringify(this.#paths)) return;
    this.#paths = paths;
    this.#ending = Promise.all([this.#ending, ...this.#folders.map((folder) => folder.close())]);
    this.#folders = [];
    if (paths.length > 0) void this.#load().then((modules) => this.#open(paths, modules));
    this.#changed();
  }

  /** Whether there may be a skill: there is a folder for skills, or an MCP server lists some. */
  get mayHaveAny(): boolean {
    return this.#paths.length > 0 || this.#servers.values().some(({ skills }) => skills.length > 0);
  }

  /** Tells the office of the skills again. */
  announce(): void {
    if (this.mayHaveAny) this.#context.onChange("skills");
  }

  /** Whether skills of MCP servers were asked for, so that lists of resources are followed for their sake. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** All skills under their names, and what keeps others from being listed. */
  async list(): Promise<SkillListing> {
    await this.#loading;
    const [scans] = await Promise.all([
      Promise.all(this.#folders.map(async (folder) => ({ from: folder.given, ...await folder.scan() }))),
      this.#refresh(this.#context.fleet.servers),
    ]);
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

  /** Answers `client:get_skill`; throws as {@linkcode Skills.find} does, and 4017 when the file cannot be read. */
  async get(request: SkillFileRequest, place: SkillAnswerPlace): Promise<Omit<GetSkillRet, "req_id">> {
    const found = await this.find(request.name);
    const { answerWithFile } = await import("./reading.ts");
    return await this.#turns.run(() => answerWithFile(found, request, place));
  }

  async read(name: string, options: LocalSkillOptions = {}): Promise<LocalSkillFile> {
    const found = await abortable(this.find(name), options.signal);
    return await (await import("./reading.ts")).readWhole(found, options);
  }

  /** Takes the `skill://` resources of a new list. */
  take(server: SupervisedServer, resources: readonly SkillResource[]): void {
    if (resources.length === 0 && !this.#servers.has(server)) return;
    void this.#load().then((modules) => this.#skillsOf(server, modules).take(resources));
  }

  onUpdated(server: SupervisedServer, uri: string): void {
    this.#servers.get(server)?.onUpdated(uri);
  }

  onListChanged(server: SupervisedServer): void {
    this.#servers.get(server)?.onListChanged();
  }

  onRunning(server: SupervisedServer): void {
    this.#servers.get(server)?.onRunning();
  }

  /** The server is failed or stopped: its skills are hidden until it runs again. */
  onStopped(server: SupervisedServer): void {
    const skills = this.#servers.get(server);
    if (skills === undefined) return;
    skills.onStopped();
    this.#changed();
  }

  remove(server: SupervisedServer): void {
    this.onStopped(server);
    this.#servers.delete(server);
  }

  /** Stops watching. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#loading;
    for (const skills of this.#servers.values()) skills.onStopped();
    // A scan that runs would otherwise outlive the Computer.
    await Promise.all([this.#ending, ...this.#folders.map((folder) => folder.close())]);
  }

  #load(): Promise<SkillModules> {
    return this.#loading ??= Promise.all([import("./folder.ts"), import("./server_skills.ts")])
      .then(([folders, servers]) => this.#modules = { ...folders, ...servers });
  }

  /** Looks at new folders at once: their owner learns of a mistake when the Computer starts, not at the first request. */
  #open(paths: readonly string[], { SkillFolder, mayRead }: SkillModules): void {
    if (this.#isClosed || paths !== this.#paths) return;
    const { limits: { maxListed }, log } = this.#context;
    const folders = this.#folders = paths.map((path) => new SkillFolder(path, { maxListed }));
    for (const folder of folders) folder.watch({ log, onChange: () => this.#changed() });
    const lookAt = async (folder: SkillFolder) => {
      const { given: from, path } = folder;
      if (mayRead(path)) return { from, ...await folder.scan() };
      // A terminal would be asked for the permission.
      return { from, skills: [], problems: [{ from, path: from, message: "reading it needs --allow-read" }] };
    };
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
      this.#context.onChange("skills");
    }, SETTLE_MS);
  }

  #skillsOf(server: SupervisedServer, { ServerSkills }: SkillModules): ServerSkills {
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
      const { capabilities } = server.connection ?? {};
      if (capabilities?.skills === true) {
        this.#skillsOf(server, await this.#load());
      } else if (capabilities?.resources === true) {
        await settledWithin(this.#context.refreshList(server, SERVER_DEADLINE_MS), SERVER_DEADLINE_MS);
        await this.#loading;
      } else return;
      await this.#servers.get(server)?.refresh(endMs - performance.now());
    }));
  }

  async #findInFolders(skill: string): Promise<FoundSkill | undefined> {
    await this.#loading;
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
    const servers = fleet.servers.filter(({ config }) => rules.skillSegmentOf(config) === wanted.segment);
    const find = (): FoundSkill | undefined => {
      for (const server of servers) {
        const skills = this.#servers.get(server);
        const skill = skills?.skills.find((each) => this.#modules?.wordOf(each) === wanted.skill);
        if (skills === undefined || skill === undefined) continue;
        return { kind: "server", server, skill, renew: () => skills.renew(skill.uri) };
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
      skills.set(skill.name, rules.hasSkillTags ? skill : rest);
    };
    for (const { from, ...scan } of scans) {
      for (const skill of scan.skills) add(skill, { from, path: skill.path });
      problems.push(...scan.problems);
    }
    for (const server of fleet.servers) {
      const segment = rules.skillSegmentOf(server.config);
      for (const skill of this.#servers.get(server)?.skills ?? []) {
        const place = { from: server.name, path: skill.uri };
        const found = this.#modules?.toListed(skill, segment);
        if (typeof found === "string") problems.push({ ...place, message: found });
        else if (found !== undefined) add(found, place);
      }
    }
    return { skills: [...skills.values()], problems };
  }
}
