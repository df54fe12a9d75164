/** Reads the answers of any peer about skills: an invalid entry is left out, unknown keys are kept. */
import { isRecord, isTexts, textsOf } from "../json/json.ts";
import {
  type AnswerReader,
  ignoreFlaws,
  listOf,
  type OnFlaw,
  type ReadEntry,
  toBody,
  withoutNulls,
} from "./flaws.ts";
import { unreadable } from "./errors.ts";
import { BINARY_TYPE, type GetSkillRet, type GetSkillsRet, SKILL_FILE, type SkillRef } from "./skills.ts";

export const parseGetSkillsRet: AnswerReader<GetSkillsRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetSkillsRet";
  const body = toBody(what, answer);
  const skills = listOf(body, { what, field: "skills", read: readSkill, onFlaw });
  return { ...body, skills, req_id: textOf(body["req_id"]) };
};

/** Only the name is required: a skill can be read without the rest. */
const readSkill: ReadEntry<SkillRef> = (entry, tell) => {
  const { name, source, path, description, uri, license, compatibility, version, ...others } = isRecord(entry)
    ? withoutNulls(entry)
    : {};
  if (typeof name !== "string" || name === "") return void tell("left out, no name");
  const { allowed_tools, tags, skill_metadata, ...rest } = others;
  for (const [key, value] of Object.entries({ source, path, description })) {
    if (typeof value !== "string") tell(`repaired, ${key}: expected a string`);
  }
  return {
    ...rest,
    name,
    source: textOf(source),
    path: textOf(path),
    description: textOf(description),
    ...textsOf({ uri, license, compatibility, version }),
    ...(isTexts(allowed_tools) ? { allowed_tools } : {}),
    ...(isTexts(tags) ? { tags } : {}),
    ...(isRecord(skill_metadata) ? { skill_metadata } : {}),
  };
};

export const parseGetSkillRet: AnswerReader<GetSkillRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetSkillRet";
  const { body, blob_handle, name, rel_path, mime_type, ...rest } = withoutNulls(toBody(what, answer));
  const { total_size, sha256 } = rest;
  if (typeof sha256 !== "string") throw unreadable(what, "sha256", "expected a string");
  if (typeof total_size !== "number" || !Number.isSafeInteger(total_size) || total_size < 0) {
    throw unreadable(what, "total_size", "expected a number of bytes");
  }
  return {
    ...rest,
    name: textOf(name),
    rel_path: textOf(rel_path) === "" ? SKILL_FILE : textOf(rel_path),
    mime_type: textOf(mime_type) === "" ? BINARY_TYPE : textOf(mime_type),
    total_size,
    sha256,
    ...contentOf({ body, blob_handle }, onFlaw),
    req_id: textOf(rest["req_id"]),
  };
};

/** An answer with both has a text already. */
function contentOf(
  { body, blob_handle }: { readonly body?: unknown; readonly blob_handle?: unknown },
  onFlaw: OnFlaw,
): Pick<GetSkillRet, "body" | "blob_handle"> {
  const hasHandle = typeof blob_handle === "string" && blob_handle !== "";
  if (typeof body === "string") {
    if (hasHandle) onFlaw("blob_handle", "left out, there is a body");
    return { body };
  }
  if (hasHandle) return { blob_handle };
  throw unreadable("GetSkillRet", "body", "expected a body or a blob_handle");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
