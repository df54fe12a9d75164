/** A folder of skills: each of its folders with a `SKILL.md` is a skill. */
import { join, resolve } from "@std/path";
import { forEachBounded } from "../../async/limiter.ts";
import { describeFileError } from "../../files/files.ts";
import { FolderWatch } from "../../files/folder_watch.ts";
import type { Logger } from "../../log.ts";
import { SKILL_FILE, type SkillRef } from "../../protocol/skills.ts";
import { ByteBudget } from "../resources/cache.ts";
import { isWithin, readHead, stampOf } from "./files.ts";
import { FrontMatterReader, toSkillRef } from "./front_matter.ts";
import { isSkillWord, SKILL_WORD_RULE } from "./names.ts";

const MAX_ENTRIES = 10_000;
const CONCURRENCY = 16;
/** The most folders that are watched: skills have few of them. */
const MAX_WATCHED = 1_000;
/** The largest skill in a list, in bytes of JSON, and the most that all skills of one folder or MCP server take. */
export const SKILL_BUDGET = { eachBytes: 65_536, totalBytes: 8 * 1024 * 1024 };

/** A skill that cannot be used, and why. */
export interface SkillProblem {
  /** The folder of skills, or the MCP server. */
  readonly from: string;
  /** The folder or the URI of the skill, or the folder of skills itself. */
  readonly path: string;
  /** What is wrong, and what to do. */
  readonly message: string;
}

/** What a folder of skills has. */
export interface SkillListing {
  /** In the order of their names. */
  readonly skills: readonly SkillRef[];
  /** What keeps others from being listed. */
  readonly problems: readonly SkillProblem[];
}

interface KnownSkill {
  readonly stamp: string;
  readonly found: SkillRef | string;
}

export interface SkillFolderOptions {
  readonly maxListed: number;
}

/** Reads a folder of skills, and reads a skill again only after a change. Watches it where that is possible. */
export class SkillFolder {
  readonly given: string;
  readonly path: string;
  readonly #options: SkillFolderOptions;
  #watch: FolderWatch | undefined;
  readonly #known = new Map<string, KnownSkill>();
  readonly #reader = new FrontMatterReader();
  #scanning: Promise<SkillListing> | undefined;
  /** The scan after the running one. */
  #next: Promise<SkillListing> | undefined;

  constructor(given: string, options: SkillFolderOptions) {
    this.given = given;
    this.path = resolve(given);
    this.#options = options;
  }

  /** Lists the skills. Requests during a scan share the next one: the running one may miss a change. Never rejects. */
  scan(): Promise<SkillListing> {
    if (this.#scanning !== undefined) return this.#next ??= this.#scanning.then(() => this.scan());
    this.#next = undefined;
    return this.#scanning = this.#scan().catch((error) =>
      this.#failed(error instanceof Deno.errors.NotFound ? "no such folder" : describeFileError(error))
    )
      .finally(() => this.#scanning = undefined);
  }

  /** Finds one skill without a look at the others; `undefined` when there is none that can be used. */
  async find(name: string): Promise<SkillRef | undefined> {
    try {
      const found = await this.#look(await Deno.realPath(this.path), name);
      return typeof found === "string" ? undefined : found;
    } catch {
      return undefined;
    }
  }

  /** Stops watching; resolves when no scan runs. */
  async close(): Promise<void> {
    await this.#watch?.close();
    await (this.#next ?? this.#scanning);
  }

  /**
   * Watches the folder where that is possible; every list looks at the files anyway.
   *
   * @param options `onChange`: called for each change, and when the watch begins: changes before that are not seen.
   */
  watch({ onChange, log }: { readonly onChange: () => void; readonly log: Logger }): void {
    // Without the permission, a terminal would be asked for it.
    if (!mayRead(this.path)) return;
    this.#watch = new FolderWatch([this.path], {
      maxFolders: MAX_WATCHED,
      onChange,
      onProblem: (error) =>
        log.info("cannot watch all of a folder of skills; it is read again at each request", {
          folder: this.path,
          error,
        }),
    });
  }

  #failed(message: string): SkillListing {
    for (const name of this.#known.keys()) this.#forget(name);
    return { skills: [], problems: [{ from: this.given, path: this.given, message }] };
  }

  async #scan(): Promise<SkillListing> {
    const root = await Deno.realPath(this.path);
    const names: string[] = [];
    for await (const { name, isFile } of Deno.readDir(root)) {
      if (names.length === MAX_ENTRIES) return this.#failed(`it has more than ${MAX_ENTRIES} entries`);
      if (!isFile && !name.startsWith(".")) names.push(name);
    }
    // Which skills are left out must not depend on the order of the file system.
    names.sort();
    const found = new Map<string, SkillRef | string>();
    await forEachBounded(names, CONCURRENCY, async (name) => {
      const one = await this.#look(root, name).catch((error) => describeFileError(error));
      if (one !== undefined) found.set(name, one);
    });
    for (const name of this.#known.keys()) if (!found.has(name)) this.#forget(name);
    return this.#listing(names, found);
  }

  #forget(name: string): void {
    this.#known.delete(name);
    this.#reader.forget(name);
  }

  #listing(names: readonly string[], found: ReadonlyMap<string, SkillRef | string>): SkillListing {
    const { maxListed } = this.#options;
    const skills: SkillRef[] = [];
    const problems: SkillProblem[] = [];
    const refuse = (name: string, message: string) =>
      problems.push({ from: this.given, path: join(this.given, name), message });
    const budget = new ByteBudget(SKILL_BUDGET);
    for (const name of names) {
      const one = found.get(name);
      if (one === undefined) continue;
      if (typeof one === "string") refuse(name, one);
      else if (skills.length === maxListed) {
        refuse(name, `left out: more than ${maxListed} skills in one folder`);
      } else if (!budget.take(name, one)) refuse(name, "left out: its front matter is too large");
      else skills.push(one);
    }
    return { skills, problems };
  }

  /** The skill in a folder, or why there is none; `undefined` for a folder that is not meant as a skill. */
  async #look(root: string, name: string): Promise<SkillRef | string | undefined> {
    const path = await Deno.realPath(join(root, name));
    const { isDirectory } = await Deno.stat(path);
    if (!isDirectory) return undefined;
    if (!isWithin(path, root)) {
      return "it is a link to a place outside of the folder; copy the skill, or give that place as a folder of skills";
    }
    const file = await Deno.stat(join(path, SKILL_FILE)).catch(ifMissing);
    if (file === undefined) return undefined;
    const stamp = `${path} ${stampOf(file)}`;
    const known = this.#known.get(name);
    if (known?.stamp === stamp) return known.found;
    this.#forget(name);
    const found = await this.#read(path, name);
    this.#known.set(name, { stamp, found });
    return found;
  }

  /** The skill in its folder, or why it cannot be used. */
  async #read(path: string, name: string): Promise<SkillRef | string> {
    if (!isSkillWord(name)) {
      return `its folder cannot be the name of a skill; rename it to ${SKILL_WORD_RULE}`;
    }
    const { members, problem } = await this.#reader.read(name, await readHead(path));
    if (members === undefined) return `${SKILL_FILE} cannot be used: ${problem}`;
    const skill = toSkillRef(members, { name, source: "user", path });
    return skill ?? `${SKILL_FILE} has no description; add "description: …" to its front matter`;
  }
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** Whether a path may be read without a question at the terminal. */
export function mayRead(path: string): boolean {
  return Deno.permissions.querySync({ name: "read", path }).state === "granted";
}
