/** Reads files of skills: for an Agent (`client:get_skill`), and for the Computer's own program. */
import { createHash } from "node:crypto";
import { abortable } from "../../async/abortable.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { A2C_BLOB_HANDLE, A2C_SHA256 } from "../../protocol/blobs.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { type GetSkillReq, type GetSkillRet, isTextType, SKILL_FILE } from "../../protocol/skills.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import type { OfficeBlobs } from "../office/blob_store.ts";
import { ask } from "../resources/read.ts";
import { type LocalRequestOptions, toMilliseconds } from "../shared/shared_parts.ts";
import { readSkillFile, type SkillContent, toSkillContent } from "./files.ts";
import { notReadable, toPathSegments } from "./names.ts";
import { bytesOf, type ServerSkill } from "./server_skills.ts";
import type { SkillListing } from "./folder.ts";
import { mismatchOf, uriOfFile } from "./skill_entries.ts";

/** The largest text that is sent in the answer itself, in bytes. */
const MAX_BODY_BYTES = 32_768;
/** The bytes of an answer without its text. */
const ENVELOPE_BYTES = 8_192;

export type FoundSkill =
  | { readonly kind: "folder"; readonly root: string }
  | {
    readonly kind: "server";
    readonly server: SupervisedServer;
    readonly skill: ServerSkill;
    /** Lists the skill again. */
    readonly renew: () => Promise<ServerSkill | undefined>;
  };

export type SkillFileRequest = Omit<GetSkillReq, "agent" | "req_id" | "computer">;

/** The skills of a Computer, for its own program. */
export interface ComputerSkills {
  /**
   * Lists the skills as an Agent sees them, and what keeps others from being listed. A skill of an MCP server that does
   * not answer within a second is listed as it was known last.
   */
  list(): Promise<SkillListing>;
  /**
   * Reads a file of a skill whole.
   *
   * @param name the name of the skill as listed
   * @throws {SmcpError} as `client:get_skill` is answered.
   */
  read(name: string, options?: LocalSkillOptions): Promise<LocalSkillFile>;
}

/** How the Computer's own program reads a file of a skill. */
export interface LocalSkillOptions extends LocalRequestOptions {
  /** The path of the file in the skill, with `/`; `SKILL.md` by default. */
  readonly relPath?: string | undefined;
}

/** A file of a skill, for the Computer's own program. */
export interface LocalSkillFile {
  /** The path of the file in the skill. */
  readonly relPath: string;
  /** The media type, by the extension of the file. */
  readonly mimeType: string;
  /** The SHA-256 of the bytes, in hexadecimal. */
  readonly sha256: string;
  /** The bytes; of a `SKILL.md`, those after its front matter. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface SkillAnswerPlace {
  /** Keeps bytes that are in no file of this machine. */
  readonly blobs: OfficeBlobs;
  readonly limitBytes: number;
}

/**
 * The answer with a file of a skill (`client:get_skill`). What is not sent in the answer itself is kept like any other large
 * part of one.
 *
 * @throws {SmcpError} 4017 when the file cannot be read.
 */
export async function answerWithFile(
  found: FoundSkill,
  request: SkillFileRequest,
  place: SkillAnswerPlace,
): Promise<Omit<GetSkillRet, "req_id">> {
  const { name, rel_path: relPath = "" } = request;
  const { mimeType, bytes } = await open(found, { relPath, timeoutMs: timeoutMsOf(request) });
  const { byteLength: total_size } = bytes;
  const about = { name, rel_path: relPath === "" ? SKILL_FILE : relPath, mime_type: mimeType, total_size };
  const body = bodyOf({ mimeType, bytes }, place.limitBytes);
  if (body !== undefined) return { ...about, sha256: sha256Of(bytes), body };
  const [mark] = place.blobs.keep([{ bytes, mimeType }], { isOfCall: false }) ?? [];
  if (mark !== undefined) return { ...about, sha256: mark[A2C_SHA256], blob_handle: mark[A2C_BLOB_HANDLE] };
  const why = "the Computer has no room to keep it";
  throw notReadable("too_large", relPath, { totalSize: total_size, why });
}

/** Reads a file whole, for the Computer's own program; throws as {@linkcode answerWithFile} does. */
export async function readWhole(found: FoundSkill, options: LocalSkillOptions): Promise<LocalSkillFile> {
  const { relPath = "", signal } = options;
  const opening = open(found, { relPath, timeoutMs: toMilliseconds(options) });
  const { mimeType, bytes } = await abortable(opening, signal);
  return { relPath: relPath === "" ? SKILL_FILE : relPath, mimeType, sha256: sha256Of(bytes), bytes };
}

async function open(
  found: FoundSkill,
  { relPath, timeoutMs }: { readonly relPath: string; readonly timeoutMs: number },
): Promise<SkillContent> {
  if (found.kind === "folder") return await readSkillFile(found.root, relPath);
  const { server, skill, renew } = found;
  const path = toPathSegments(relPath).join("/");
  const reading = { server, path, relPath, timeoutMs };
  let read = await readFromServer({ ...reading, skill });
  if (read.mismatch !== undefined) {
    // It has changed since it was listed, unless the server lies.
    const now = await renew();
    if (now !== undefined) read = await readFromServer({ ...reading, skill: now });
  }
  const { bytes, mismatch: why } = read;
  if (why !== undefined) throw notReadable("io_error", relPath, { why });
  return toSkillContent(path.split("/").at(-1) ?? "", { bytes, relPath });
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The text of a small text file; `undefined` for any other file. */
function bodyOf({ mimeType, bytes }: SkillContent, limitBytes: number): string | undefined {
  if (!isTextType(mimeType) || bytes.byteLength > MAX_BODY_BYTES) return undefined;
  try {
    const body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const { length } = new TextEncoder().encode(JSON.stringify(body));
    return length + ENVELOPE_BYTES <= limitBytes ? body : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a file from an MCP server, and compares it with its entry, if the skill has one. A failure of the server is 4017,
 * the only error that other SDKs expect here.
 */
async function readFromServer(
  { server, skill, path, relPath, timeoutMs }: {
    readonly server: SupervisedServer;
    readonly skill: ServerSkill;
    readonly path: string;
    readonly relPath: string;
    readonly timeoutMs: number;
  },
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly mismatch: string | undefined }> {
  const { entry, files } = skill;
  const uri = entry === undefined ? files.get(path) : uriOfFile(entry, path);
  if (uri === undefined) throw notReadable("not_found", relPath);
  const bytes = await ask({ server, uri }, (connection) => connection.readResource(uri, { timeoutMs }))
    .then(({ contents }) => bytesOf(contents)).catch((cause) => {
      const isMissing = cause instanceof SmcpError && cause.code === ErrorCode.NOT_FOUND;
      const why = cause instanceof SmcpError ? cause.message : undefined;
      throw notReadable(isMissing ? "not_found" : "io_error", relPath, {
        cause,
        ...(why === undefined ? {} : { why }),
      });
    });
  return { bytes, mismatch: entry === undefined ? undefined : await mismatchOf(entry, { path, bytes }) };
}
