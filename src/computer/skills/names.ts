/** Names of skills, paths of their files, and the errors of `client:get_skill` (`docs/protocol/versions.md#skills`). */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { SKILL_FILE } from "../../protocol/skills.ts";
import { didYouMean } from "../../text/spelling.ts";
import { shorten } from "../../text/text.ts";

export type SkillName =
  | { readonly kind: "user"; readonly skill: string }
  | { readonly kind: "marketplace"; readonly plugin: string; readonly skill: string }
  | { readonly kind: "mcp"; readonly segment: string; readonly skill: string };

/** The rule of one part of a name, in words for users. */
export const SKILL_WORD_RULE = "1 to 64 lower-case letters and digits, with single hyphens between them";

const WORD = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_WORD_LENGTH = 64;
const SEGMENT = /^[A-Za-z0-9_-]+$/;
/** A file with credentials, which is never read for an Agent. */
const FORBIDDEN_FILE = ".skillenv";
const MAX_SHOWN_LENGTH = 200;

/** Whether a text can be the last part of a name, and so the name of a skill's folder. */
export function isSkillWord(text: string): boolean {
  return text.length <= MAX_WORD_LENGTH && WORD.test(text);
}

export function parseSkillName(name: string): SkillName | undefined {
  const parts = name.split(":");
  const [first = "", second = "", skill = ""] = parts;
  if (parts.length === 1) return isSkillWord(first) ? { kind: "user", skill: first } : undefined;
  if (parts.length === 2) {
    const isValid = isSkillWord(first) && isSkillWord(second);
    return isValid ? { kind: "marketplace", plugin: first, skill: second } : undefined;
  }
  const isValid = parts.length === 3 && first === "mcp" && SEGMENT.test(second) && isSkillWord(skill);
  return isValid ? { kind: "mcp", segment: second, skill } : undefined;
}

/**
 * The segments of a file's path in its skill, checked without a look at the file; `SKILL.md` for an empty path.
 *
 * @throws {SmcpError} 4017 for a path that leaves the skill or names a file with credentials.
 */
export function toPathSegments(relPath: string): string[] {
  if (relPath === "") return [SKILL_FILE];
  const segments = relPath.split("/");
  const leaves = relPath.includes("\\") || relPath.startsWith("/") ||
    segments.some((segment) => segment === ".." || segment.includes(":"));
  if (leaves) throw notReadable("traversal", relPath);
  const inside = segments.filter((segment) => segment !== "" && segment !== ".");
  if (isForbidden(inside.at(-1) ?? "")) throw notReadable("forbidden", relPath);
  return inside;
}

/** Whether a file of this name is never read for an Agent. */
export function isForbidden(name: string): boolean {
  return name.toLowerCase() === FORBIDDEN_FILE;
}

/** 4016: the name is malformed. */
export function invalidName(name: string): SmcpError {
  const message =
    `Invalid skill name "${shown(name)}": expected SKILL, PLUGIN:SKILL or mcp:SERVER:SKILL, where ` +
    `SKILL and PLUGIN are ${SKILL_WORD_RULE}, and SERVER is letters, digits, "_" and "-"`;
  return new SmcpError(ErrorCode.SKILL_NAME_INVALID, message, { details: { name } });
}

/** 4014: there is no such skill. */
export function skillNotFound(name: string, known: Iterable<string>): SmcpError {
  const message = `Skill not found: this Computer has no skill "${shown(name)}"${didYouMean(name, known)}`;
  return new SmcpError(ErrorCode.MCP_SERVER_NOT_FOUND, message, { details: { name } });
}

const REASONS = {
  traversal: "the path leaves the folder of the skill",
  forbidden: "files with credentials are not read",
  not_found: "the skill has no such file",
  too_large: "it is too large",
  io_error: "reading it failed",
} as const;

/** Why a file of a skill cannot be read. */
export type SkillFileReason = keyof typeof REASONS;

/** 4017: a file of a skill cannot be read. */
export function notReadable(
  reason: SkillFileReason,
  relPath: string,
  options: { readonly totalSize?: number; readonly cause?: unknown; readonly why?: string } = {},
): SmcpError {
  const { totalSize, cause, why = REASONS[reason] } = options;
  const path = relPath === "" ? SKILL_FILE : relPath;
  const size = totalSize === undefined ? {} : { total_size: totalSize };
  return new SmcpError(
    ErrorCode.SKILL_RESOURCE_NOT_ACCESSIBLE,
    `Cannot read file "${shown(path)}" of the skill: ${why}`,
    { cause, details: { reason, rel_path: path, ...size } },
  );
}

function shown(text: string): string {
  return shorten(text, MAX_SHOWN_LENGTH);
}
