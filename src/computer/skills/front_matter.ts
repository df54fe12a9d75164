/** The front matter of a `SKILL.md`: YAML between two lines `---` (`docs/skills.md#front-matter`). */
import { ByteBudget } from "../resources/cache.ts";
import { LineCounter, parseDocument } from "yaml";
import { delay } from "../../async/backoff.ts";
import { Limiter } from "../../async/limiter.ts";
import { isDeeperThan, isRecord, isTexts } from "../../json/json.ts";
import type { SkillRef } from "../../protocol/skills.ts";
import { describeError, shorten } from "../../text/text.ts";

/** The largest front matter, in bytes. To read it may take a quarter of a second, in which nothing else runs. */
const MAX_FRONT_MATTER_BYTES = 16_384;
/** How much of a `SKILL.md` is needed to find its front matter, in bytes. */
export const HEAD_BYTES = MAX_FRONT_MATTER_BYTES + 1_024;
/** The most bytes of all front matters of one folder or MCP server. */
export const MAX_ALL_BYTES = 1024 * 1024;
/** Before a longer front matter is read, other work of the process runs. */
const SHORT_BYTES = 1_024;
const MAX_DEPTH = 64;
const MAX_CAUSE_LENGTH = 200;
const LINE_END = 0x0a;

/**
 * Values have types of JSON only. Bytes, dates and sets of YAML would travel as something else, or not at all: a peer that
 * reads no attachments would get no list of skills because of one of them. A `%YAML 1.1` does not change this.
 */
const JSON_TYPES = { schema: "core", resolveKnownTags: false } as const;
/** Only the first error is told, so the place of the others is not looked for: there may be thousands. */
const OPTIONS = { ...JSON_TYPES, uniqueKeys: false, prettyErrors: false, logLevel: "silent" } as const;

/** The front matter of a file, and where the text after it begins. */
export interface FrontMatter {
  /** The offset of the text after the front matter, in bytes; 0 without front matter. */
  readonly bodyStart: number;
  /** Its members; `undefined` when there is no front matter that can be used. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  /** Why it cannot be used, and what to do. */
  readonly problem?: string | undefined;
}

function readFrontMatter(head: Uint8Array): FrontMatter {
  const found = findFrontMatter(head);
  if ("problem" in found) return { bodyStart: 0, members: undefined, problem: found.problem };
  const { start, end, bodyStart } = found;
  const notYaml = (cause: string, line?: number): FrontMatter => {
    const place = line === undefined ? "" : ` at line ${line}`;
    const [first = ""] = cause.split("\n");
    const problem = `its front matter is not valid YAML${place}: ${shorten(first, MAX_CAUSE_LENGTH)}`;
    return { bodyStart, members: undefined, problem };
  };
  try {
    const text = new TextDecoder().decode(head.subarray(start, end));
    const lineCounter = new LineCounter();
    // Duplicate keys are read as other SDKs read them: the last one counts.
    const document = parseDocument(text, { ...OPTIONS, lineCounter });
    const [error] = document.errors;
    // Of the file: the front matter begins in its second line.
    if (error !== undefined) {
      return notYaml(error.message, lineCounter.linePos(error.pos[0]).line + 1);
    }
    const members: unknown = document.toJS();
    if (isRecord(members)) return { bodyStart, members: withoutDeep(members) };
    return { bodyStart, members: undefined, problem: "its front matter is no mapping; write KEY: VALUE" };
  } catch (error) {
    return notYaml(describeError(error));
  }
}

/** Without members that are nested too deep, or, by an alias, without end. */
function withoutDeep(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => !isDeeperThan(value, MAX_DEPTH)),
  );
}

/** Reads the front matters of one folder or MCP server: one at a time, and all together within a limit. */
export class FrontMatterReader {
  readonly #turns = new Limiter(1);
  readonly #budget = new ByteBudget({ eachBytes: MAX_FRONT_MATTER_BYTES, totalBytes: MAX_ALL_BYTES });

  /**
   * Reads the front matter of a skill, in place of the earlier one of `key`.
   *
   * @param head The beginning of the file: all of it, or {@linkcode HEAD_BYTES}.
   * @throws {RangeError} when all of them together are too large.
   */
  read(key: string, head: Uint8Array): Promise<FrontMatter> {
    return this.#turns.run(async () => {
      const found = findFrontMatter(head);
      const bytes = "problem" in found ? 0 : found.end - found.start;
      if (!this.#budget.takeBytes(key, bytes)) {
        const limit = `all of them together have more than ${MAX_ALL_BYTES} bytes`;
        throw new RangeError(`Cannot read the front matter: ${limit}`);
      }
      if (bytes > SHORT_BYTES) await delay(0);
      return readFrontMatter(head);
    });
  }

  forget(key: string): void {
    this.#budget.release(key);
  }
}

/** Where the text after the front matter begins, in bytes; 0 without front matter. */
export function bodyStartOf(head: Uint8Array): number {
  const found = findFrontMatter(head);
  return "problem" in found ? 0 : found.bodyStart;
}

type Place =
  | { readonly start: number; readonly end: number; readonly bodyStart: number }
  | { readonly problem: string };

/** Compares bytes, so that the text after the front matter stays as it is. */
function findFrontMatter(head: Uint8Array): Place {
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  const first = lineAt(head, hasMark ? 3 : 0);
  if (!first.isFence) return { problem: "it has no front matter; begin it with a line ---" };
  for (let line = lineAt(head, first.next); line.start < head.length; line = lineAt(head, line.next)) {
    if (line.start > MAX_FRONT_MATTER_BYTES) break;
    if (line.isFence) return { start: first.next, end: line.start, bodyStart: line.next };
  }
  return { problem: `its front matter has no end; add a line --- within ${MAX_FRONT_MATTER_BYTES} bytes` };
}

function lineAt(
  bytes: Uint8Array,
  start: number,
): { readonly start: number; readonly next: number; readonly isFence: boolean } {
  const end = bytes.indexOf(LINE_END, start);
  const next = end < 0 ? bytes.length : end + 1;
  // A fence is short, so a long line need not be decoded.
  const isFence = next - start < 100 &&
    new TextDecoder().decode(bytes.subarray(start, next)).trim() === "---";
  return { start, next, isFence };
}

export interface SkillOrigin {
  readonly name: string;
  readonly source: string;
  readonly path: string;
  readonly uri?: string | undefined;
  readonly version?: string | undefined;
}

/** A skill as it is listed; `undefined` without a description. Members of a wrong type are left out. */
export function toSkillRef(
  members: Readonly<Record<string, unknown>>,
  { name, source, path, uri, version }: SkillOrigin,
): SkillRef | undefined {
  const description = scalarText(members["description"]);
  if (description === undefined || description.trim() === "") return undefined;
  const { metadata, tags } = members;
  const tools = members["allowed-tools"] ?? members["allowed_tools"];
  const texts = {
    uri,
    license: scalarText(members["license"]),
    compatibility: scalarText(members["compatibility"]),
    version,
  };
  return {
    name,
    source,
    path,
    description,
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
    ...(tools === undefined || tools === null ? {} : { allowed_tools: toTexts(tools) }),
    ...(isTexts(tags) ? { tags } : {}),
    ...(isRecord(metadata) ? { skill_metadata: metadata } : {}),
  };
}

/** A text, number or truth value as text. */
export function scalarText(value: unknown): string | undefined {
  return ["string", "number", "boolean", "bigint"].includes(typeof value) ? String(value) : undefined;
}

function toTexts(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.map(scalarText).filter((text) => text !== undefined);
}
