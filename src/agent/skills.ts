/** Lists the skills of a Computer and reads their files (`docs/skills.md`). */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { GET_SKILL_EVENT, GET_SKILLS_EVENT } from "../protocol/events.ts";
import { parseGetSkillRet, parseGetSkillsRet } from "../protocol/skill_answers.ts";
import { type GetSkillRet, isTextType, SKILL_FILE, type SkillRef } from "../protocol/skills.ts";
import { BlobReader, sha256Of } from "./blobs.ts";
import type { RequestOptions, Requests } from "./requests.ts";

/** A file of a skill. */
export interface SkillFile {
  /** The name of the skill. */
  readonly name: string;
  /** The path of the file in the skill; `SKILL.md` for its text. */
  readonly relPath: string;
  /** The media type, by the extension of the file. */
  readonly mimeType: string;
  /** The bytes; of a `SKILL.md`, those after its front matter. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same as text; only of a text file in UTF-8. */
  readonly body?: string;
  /** The SHA-256 of the bytes, in hexadecimal. */
  readonly sha256: string;
}

/** How to read a file of a skill. */
export interface SkillFileOptions extends RequestOptions {
  /** The path of the file in the skill, with `/`, as its `SKILL.md` names it; `SKILL.md` by default. */
  readonly relPath?: string | undefined;
}

export async function getSkills(requests: Requests, options: RequestOptions): Promise<SkillRef[]> {
  return (await requests.ask(GET_SKILLS_EVENT, {}, { ...options, parse: parseGetSkillsRet })).skills;
}

export async function getSkill(
  requests: Requests,
  name: string,
  { relPath, ...options }: SkillFileOptions,
): Promise<SkillFile> {
  const body = { name, rel_path: relPath === SKILL_FILE ? undefined : relPath };
  const answer = {
    ...await requests.ask(GET_SKILL_EVENT, body, { ...options, parse: parseGetSkillRet }),
    // What was asked for: a program that saves files by these names would save them where the Computer says.
    name,
    rel_path: relPath || SKILL_FILE,
  };
  const bytes = answer.body === undefined
    ? await fetchBytes(requests, answer, options)
    : await checkedBytes(answer, answer.body);
  const text = answer.body ?? textOf(answer, bytes);
  return {
    name,
    relPath: answer.rel_path,
    mimeType: answer.mime_type,
    bytes,
    ...(text === undefined ? {} : { body: text }),
    sha256: answer.sha256.toLowerCase(),
  };
}

async function fetchBytes(
  requests: Requests,
  { blob_handle: handle = "", sha256 }: GetSkillRet,
  options: RequestOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  return await requests.fill(async (filling) => await new BlobReader(filling).read(handle, sha256), options);
}

async function checkedBytes(
  { name, rel_path, sha256 }: GetSkillRet,
  body: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(body);
  if (await sha256Of(bytes) === sha256.toLowerCase()) return bytes;
  throw new SmcpError(
    ErrorCode.SKILL_RESOURCE_NOT_ACCESSIBLE,
    `Cannot read "${rel_path}" of skill "${name}": the text does not match its checksum`,
    { details: { reason: "integrity", rel_path } },
  );
}

function textOf({ mime_type }: GetSkillRet, bytes: Uint8Array): string | undefined {
  if (!isTextType(mime_type)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
