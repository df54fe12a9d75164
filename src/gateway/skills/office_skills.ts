/** The skills of all Computers, as the Skills extension of MCP has them (SEP-2640). */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import { toWellFormed } from "../../agent/toolkit/list_entries.ts";
import type { Json } from "../../local_tools/mcp.ts";
import type { OfficeView } from "../../agent/toolkit/office_view.ts";
import { A2C_COMPUTER } from "../../agent/toolkit/tool_definition.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import { isNotServed } from "../../agent/requests.ts";
import type { Logger } from "../../log.ts";
import { SKILL_FILE, type SkillRef } from "../../protocol/skills.ts";
import { escapeUnreadable, toSeenLine } from "../../text/safe_text.ts";
import { shorten } from "../../text/text.ts";
import { ComputerCache } from "../computer_cache.ts";
import { A2C_SKILL } from "../resources/uris.ts";
import type { ReadContents } from "../resources/scoped_resources.ts";
import { isRecord } from "../../json/json.ts";
import { pageOf } from "../paging.ts";

/** The most skills of one Computer. */
const MAX_SKILLS = 1_000;
/** The most characters of a description, as the format of skills has it, and of any other member. */
const MAX_DESCRIPTION = 1_024;
const MAX_MEMBER = 4_096;
/** Names of skills, as their format has them. */
const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** A skill of a Computer. */
export interface OfficeSkill {
  readonly computer: string;
  /** Its name at the Computer: `release-notes`, or `mcp:SERVER:SKILL`. */
  readonly name: string;
  /** The URI of its folder, without a slash at the end. */
  readonly root: string;
  readonly frontmatter: Json & { readonly name: string; readonly description: string };
}

/** What comes with a request for a file. */
export interface SkillReading {
  readonly signal: AbortSignal;
  readonly client: string | undefined;
}

export class OfficeSkills {
  readonly #view: OfficeView;
  readonly #cache: ComputerCache<readonly OfficeSkill[]>;

  /** @param parts `onLate`: called when a Computer that was late has listed its skills. */
  constructor(
    { view, logger, onLate }: {
      readonly view: OfficeView;
      readonly logger: Logger;
      readonly onLate: (computer: string) => void;
    },
  ) {
    this.#view = view;
    this.#cache = new ComputerCache({
      view,
      what: "skills",
      fetch: fetchSkills,
      changes: ["skills"],
      onLate,
      logger,
    });
  }

  /** The skills as they were listed last. */
  get kept(): OfficeSkill[] {
    return this.#cache.kept.flat();
  }

  /** @throws {ProtocolError} when there are none, and a Computer refuses to list. */
  async list(computers: readonly string[]): Promise<OfficeSkill[]> {
    return (await this.#cache.insist(computers)).flat();
  }

  /** The skill whose `SKILL.md` has this URI; `undefined` when no Computer of these has it. */
  async find(uri: string, computers: readonly string[]): Promise<OfficeSkill | undefined> {
    return (await this.list(computers)).find(({ root }) => `${root}/${SKILL_FILE}` === uri);
  }

  /**
   * Reads a file of a skill.
   *
   * @throws {ResourceNotFoundError} when no Computer of these has it.
   */
  async read(
    uri: string,
    { computers, ...reading }: SkillReading & { readonly computers: readonly string[] },
  ): Promise<ReadContents> {
    const skill = (await this.list(computers)).find(({ root }) => uri.startsWith(`${root}/`));
    const relPath = skill && decodePath(uri.slice(skill.root.length + 1));
    if (skill === undefined || relPath === undefined) {
      throw new ResourceNotFoundError(uri, `No skill has the file ${toSeenLine(uri)}: list the skills`);
    }
    const _meta = { [A2C_COMPUTER]: skill.computer };
    if (relPath === SKILL_FILE) {
      const text = `${headOf(skill)}${await this.text(skill, reading)}`;
      return { contents: [{ uri, mimeType: "text/markdown", text, _meta }] };
    }
    const { mimeType, body, bytes } = await this.#file(skill, { ...reading, relPath });
    const content = body === undefined ? { blob: bytes.toBase64() } : { text: body.toWellFormed() };
    return { contents: [{ uri, mimeType, ...content, _meta }] };
  }

  /** The text of a skill, without its front matter. */
  async text(skill: Pick<OfficeSkill, "computer" | "name">, reading: SkillReading): Promise<string> {
    const { body = "" } = await this.#file(skill, reading);
    return body.toWellFormed();
  }

  async #file(
    { computer, name }: Pick<OfficeSkill, "computer" | "name">,
    { signal, client, relPath }: SkillReading & { readonly relPath?: string },
  ) {
    const remote = this.#view.office?.computer(computer, { client });
    if (remote === undefined) throw new TypeError("Cannot read a skill: the office cannot be reached now");
    return await remote.getSkill(name, { signal, relPath });
  }
}

async function fetchSkills(remote: RemoteComputer): Promise<OfficeSkill[]> {
  try {
    const skills = await remote.getSkills();
    const found = skills.slice(0, MAX_SKILLS).flatMap((skill) => toOfficeSkill(skill, remote.name) ?? []);
    // Two names may end alike, and lead to one URI only if they are the same.
    return [...new Map(found.map((skill) => [skill.root, skill])).values()];
  } catch (error) {
    if (isNotServed(error)) return [];
    throw error;
  }
}

/** A skill with a name and a description, as the extension demands both. */
function toOfficeSkill(skill: SkillRef, computer: string): OfficeSkill | undefined {
  const segments = skill.name.split(":");
  const name = segments.at(-1) ?? "";
  const description = shorten(escapeUnreadable(skill.description).trim(), MAX_DESCRIPTION);
  if (!SKILL_NAME.test(name) || description === "" || segments.includes("")) return undefined;
  const path = [computer, ...segments].map((segment) => encodeURIComponent(segment.toWellFormed())).join("/");
  const { license, compatibility, allowed_tools: tools, skill_metadata: metadata } = skill;
  const members = {
    license,
    compatibility,
    "allowed-tools": tools?.join(" "),
    metadata: metadata === undefined || Object.keys(metadata).length === 0 ? undefined : metadata,
  };
  const kept = Object.entries(members).filter(([, value]) => value !== undefined && isShort(value));
  const frontmatter = { name, description, ...toWellFormed(Object.fromEntries(kept)) };
  return { computer, name: skill.name, root: `${A2C_SKILL}${path}`, frontmatter };
}

function isShort(value: unknown): boolean {
  try {
    return JSON.stringify(value).length <= MAX_MEMBER;
  } catch {
    return false;
  }
}

/** The front matter: JSON is YAML. */
function headOf({ frontmatter }: OfficeSkill): string {
  const lines = Object.entries(frontmatter).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `---\n${lines.join("\n")}\n---\n\n`;
}

/** The path in a skill; `undefined` for one that is no path. The Computer checks it again. */
function decodePath(path: string): string | undefined {
  try {
    return path === "" ? undefined : decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

const PAGE_SIZE = 200;

export interface SkillHandlerParts {
  readonly skills: OfficeSkills;
  readonly computers: () => readonly string[];
  readonly ready: () => Promise<void>;
  readonly isLegacy: boolean;
}

export function serveSkills(server: Server, { skills, computers, ready, isLegacy }: SkillHandlerParts): void {
  // An office changes at any time, and its clients may see different Computers.
  const fresh = isLegacy ? {} : { ttlMs: 0, cacheScope: "private" };
  server.setRequestHandler("skills/list", { params: anyObject }, async ({ cursor }) => {
    await ready();
    const entries = (await skills.list(computers())).map(toEntry);
    const { page, next } = pageOf(entries, {
      size: PAGE_SIZE,
      cursor: typeof cursor === "string" ? cursor : undefined,
      keyOf: ({ uri }) => uri,
    });
    return { skills: page, ...next, ...fresh };
  });
  server.setRequestHandler("skills/get", { params: anyObject }, async ({ uri }) => {
    await ready();
    const skill = typeof uri === "string" ? await skills.find(uri, computers()) : undefined;
    if (skill === undefined) {
      const message = `No skill has the URI ${toSeenLine(String(uri))}: list the skills`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    return { skill: toEntry(skill), ...fresh };
  });
}

/**
 * A Computer does not list the files of a skill, and sends the text of a `SKILL.md` without its front matter, so that no
 * digest of the whole can be given.
 */
function toEntry({ root, frontmatter }: OfficeSkill) {
  return { uri: `${root}/${SKILL_FILE}`, frontmatter, resources: "dynamic" } as const;
}

/** Parameters that are an object; their members are checked where they are read. */
const anyObject = {
  "~standard": {
    version: 1,
    vendor: "a2c-smcp",
    types: undefined as undefined | { readonly input: Json; readonly output: Json },
    validate: (value: unknown) => ({ value: isRecord(value) ? value : {} }),
  },
} as const;
