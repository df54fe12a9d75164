/** The skills of a Computer (`docs/protocol/versions.md#skills`), and which of their files are text. */
import type { ComputerCallData } from "./call.ts";

/** The file of a skill that is read when a request names none. */
export const SKILL_FILE = "SKILL.md";

/** The URI scheme of the skills that MCP servers list. */
export const SKILL_SCHEME = "skill://";

/** The media type of files of an unknown kind. */
export const BINARY_TYPE = "application/octet-stream";

/** A skill in the answer to `client:get_skills`: what it is for, without its text. */
export interface SkillRef {
  /** Its name: `SKILL` from a folder, `mcp:SERVER:SKILL` from an MCP server. */
  name: string;
  /** Where it comes from: `user`, `marketplace:REPOSITORY` or `mcp:SERVER`. */
  source: string;
  /** Its folder on the Computer; for a skill of an MCP server, our Computer sends its URI. */
  path: string;
  /** When to use it, for the model. */
  description: string;
  /** Its URI at the MCP server; only from MCP servers. */
  uri?: string;
  /** Its license. */
  license?: string;
  /** What it needs, as its author writes it. */
  compatibility?: string;
  /** The tools that it uses, as its author names them; these are no names of {@linkcode SMCPTool}. */
  allowed_tools?: string[];
  /** Its tags; from protocol 0.4 on. */
  tags?: string[];
  /** Its version; only from MCP servers and marketplaces. */
  version?: string;
  /** Further members of its front matter. */
  skill_metadata?: Record<string, unknown>;
}

/** The answer to `client:get_skills`. */
export interface GetSkillsRet {
  /** The skills, in no particular order. */
  skills: SkillRef[];
  /** The id of the request. */
  req_id: string;
}

/** `client:get_skill`: reads one file of a skill. */
export interface GetSkillReq extends ComputerCallData {
  /** The name of the skill as listed. */
  name: string;
  /** The path of the file in the skill, with `/`; `SKILL.md` when absent or empty. */
  rel_path?: string;
}

/** The answer to `client:get_skill`. It has either `body` or `blob_handle`. */
export interface GetSkillRet {
  /** The name of the skill. */
  name: string;
  /** The path of the file in the skill. */
  rel_path: string;
  /** The media type, by the extension of the file. */
  mime_type: string;
  /** The size in bytes; that of a `SKILL.md` counts without its front matter. */
  total_size: number;
  /** The SHA-256 of these bytes, in hexadecimal. */
  sha256: string;
  /** The text of a small text file. */
  body?: string;
  /** The handle with which `client:get_blob` reads every other file. */
  blob_handle?: string;
  /** The id of the request. */
  req_id: string;
}

const TEXT_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/xml",
  "application/yaml",
  "application/x-yaml",
  "application/toml",
  "application/javascript",
]);

/** Whether files of this media type are text. Computer and Agent must agree on it. */
export function isTextType(mimeType: string): boolean {
  const essence = (mimeType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return essence.startsWith("text/") || /\+(?:json|xml|yaml)$/.test(essence) || TEXT_TYPES.has(essence);
}
