/** Serves `skills/list` and `skills/get` of the Skills extension of MCP (SEP-2640). */
import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import type { Json } from "../../agent/toolkit/mcp.ts";
import { isRecord } from "../../json/json.ts";
import { SKILL_FILE } from "../../protocol/skills.ts";
import { toSeenLine } from "../../text/safe_text.ts";
import { pageOf } from "../paging.ts";
import type { OfficeSkill, OfficeSkills } from "./office_skills.ts";

/** The name of the extension. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
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
