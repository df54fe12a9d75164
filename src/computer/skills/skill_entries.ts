/**
 * The skills of an MCP server that speaks the Skills extension of MCP (`io.modelcontextprotocol/skills`, SEP-2640): the
 * entries of `skills/list`, and whether a file is what its entry says.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { approximateSizeBytes, isRecord } from "../../json/json.ts";
import { SKILL_FILE } from "../../protocol/skills.ts";
import { FrontMatterReader, HEAD_BYTES, MAX_ALL_BYTES } from "./front_matter.ts";

/** The largest skill that every host has to take, as the extension says. */
const MAX_FILES = 512;
const MAX_ALL_FILES_BYTES = 16 * 1024 * 1024;
const ROOT = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+(?:\/[^/?#]+)*$/i;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** What an entry says of a file. */
interface FileSum {
  readonly uri: string;
  readonly digest: string;
  readonly size: number;
}

/** A skill as an entry of `skills/list` has it. */
export interface SkillEntry {
  /** The URI of its folder, without a slash at the end. */
  readonly uri: string;
  /** Its name; a longer one of its path where the server has several skills of that name. */
  readonly word: string;
  readonly frontMatter: Readonly<Record<string, unknown>>;
  /** Its files by their paths in the skill; `undefined` for one that is made anew at each read. */
  readonly sums: ReadonlyMap<string, FileSum> | undefined;
}

/** Reads the entries of `skills/list`; what is not as the extension has it is left out with a warning. */
export function toSkillEntries(
  entries: readonly unknown[],
  warn: (message: string, uri: string) => void,
): SkillEntry[] {
  const skills = new Map<string, SkillEntry>();
  let bytes = 0;
  for (const entry of entries) {
    const skill = toSkillEntry(entry);
    if (typeof skill === "string") {
      const uri = isRecord(entry) && typeof entry["uri"] === "string" ? entry["uri"] : "";
      warn(`a skill is left out: ${skill}`, uri);
      continue;
    }
    bytes += approximateSizeBytes(skill.frontMatter);
    if (bytes > MAX_ALL_BYTES) {
      warn(`skills are left out: their front matters have more than ${MAX_ALL_BYTES} bytes`, skill.uri);
      break;
    }
    if (!skills.has(skill.uri)) skills.set(skill.uri, skill);
  }
  const names = new Map<string, number>();
  for (const { word } of skills.values()) names.set(word, (names.get(word) ?? 0) + 1);
  // None of several is preferred: a name would otherwise become another skill's when the list has another order.
  return [...skills.values()].map((skill) =>
    names.get(skill.word) === 1 ? skill : { ...skill, word: pathOf(skill.uri).join("-") }
  );
}

/** Where to read a file of a skill; `undefined` when the skill has no such file. */
export function uriOfFile({ uri, sums }: SkillEntry, path: string): string | undefined {
  if (sums !== undefined) return sums.get(path)?.uri;
  return path === "" ? undefined : [uri, ...path.split("/").map(encodeURIComponent)].join("/");
}

/** Why the bytes are not the file that the entry has under this path; `undefined` when they are. */
export async function mismatchOf(
  { sums, frontMatter }: SkillEntry,
  { path, bytes }: { readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> },
): Promise<string | undefined> {
  const sum = sums?.get(path);
  if (sum !== undefined) {
    if (bytes.byteLength !== sum.size) return "its size is not the one that the MCP server listed";
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (digest !== sum.digest) return "its SHA-256 is not the one that the MCP server listed";
  }
  if (path !== SKILL_FILE) return undefined;
  const { members } = await new FrontMatterReader().read(path, bytes.slice(0, HEAD_BYTES));
  const isListed = members !== undefined && isDeepStrictEqual(toJson(members), frontMatter);
  return isListed ? undefined : "its front matter is not the one that the MCP server listed";
}

function toJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** An entry, or why it cannot be used. */
function toSkillEntry(entry: unknown): SkillEntry | string {
  if (!isRecord(entry)) return "its entry is no object";
  const { uri: file, frontmatter, resources } = entry;
  if (typeof file !== "string" || !file.endsWith(`/${SKILL_FILE}`)) {
    return `its URI is none of a ${SKILL_FILE}`;
  }
  const uri = file.slice(0, -SKILL_FILE.length - 1);
  if (!ROOT.test(uri)) return "its URI has no path";
  if (!isRecord(frontmatter)) return "its entry has no front matter";
  if (approximateSizeBytes(frontmatter) > HEAD_BYTES) return "its front matter is too large";
  const word = pathOf(uri).at(-1) ?? "";
  if (frontmatter["name"] !== word) return "its URI does not end with its name";
  const skill = { uri, word, frontMatter: frontmatter };
  if (resources === "dynamic") return { ...skill, sums: undefined };
  const sums = toSums(uri, resources);
  return typeof sums === "string" ? sums : { ...skill, sums };
}

/** The files by their paths in the skill, or why they cannot be used. */
function toSums(root: string, resources: unknown): ReadonlyMap<string, FileSum> | string {
  if (!Array.isArray(resources)) return "its entry lists no files";
  if (resources.length > MAX_FILES) return `it has more than ${MAX_FILES} files`;
  const sums = new Map<string, FileSum>();
  let bytes = 0;
  for (const file of resources) {
    if (!isSum(file)) return "its entry lists a file without a URI, a SHA-256 and a size";
    const path = pathIn(root, file.uri);
    if (path === undefined) return "its entry lists a file of another place";
    if (sums.has(path)) return "its entry lists a file twice";
    const { uri, digest, size } = file;
    sums.set(path, { uri, digest, size });
    bytes += size;
  }
  if (bytes > MAX_ALL_FILES_BYTES) return `its files have more than ${MAX_ALL_FILES_BYTES} bytes`;
  return sums.has(SKILL_FILE) ? sums : `its entry lists no ${SKILL_FILE}`;
}

function isSum(file: unknown): file is FileSum {
  if (!isRecord(file)) return false;
  const { uri, digest, size } = file;
  return typeof uri === "string" && typeof digest === "string" && DIGEST.test(digest) &&
    typeof size === "number" && Number.isSafeInteger(size) && size >= 0;
}

/** The path of a file in a skill; `undefined` when it lies elsewhere, or its URI is read in more than one way. */
function pathIn(root: string, uri: string): string | undefined {
  if (!uri.startsWith(`${root}/`) || /[?#]/.test(uri)) return undefined;
  try {
    const segments = uri.slice(root.length + 1).split("/").map(decodeURIComponent);
    const isPlain = segments.every((each) => !["", ".", ".."].includes(each) && !/[/\\]/.test(each));
    return isPlain ? segments.join("/") : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(root: string): string[] {
  return root.slice(root.indexOf("://") + 3).split("/");
}
