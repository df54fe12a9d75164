/** Reads files of skills for an Agent: `client:get_skill`, and `client:get_blob` with the handle of such a file. */
import { createHash } from "node:crypto";
import { abortable } from "../../async/abortable.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { A2C_BLOB_HANDLE } from "../../protocol/blobs.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { GetBlobRet } from "../../protocol/resources.ts";
import { type GetSkillReq, type GetSkillRet, isTextType, SKILL_FILE } from "../../protocol/skills.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { type ChunkRequest, MAX_CHUNK_BYTES, notAccessible, type OfficeBlobs } from "../office/blob_store.ts";
import { ask } from "../resources/read.ts";
import {
  ChangedFileError,
  changesWhileRead,
  MAX_SKILL_FILE_BYTES,
  type SkillContent,
  SkillFiles,
} from "./files.ts";
import { bodyStartOf } from "./front_matter.ts";
import { mediaTypeOf } from "./media_types.ts";
import { type LocalRequestOptions, toMilliseconds } from "../options.ts";
import { notReadable, toPathSegments } from "./names.ts";
import { bytesOf, type ServerSkill } from "./server_skills.ts";
import type { SkillListing } from "./folder.ts";
import type { FoundSkill, Skills } from "./skills.ts";

/** The largest text that is sent in the answer itself, in bytes. */
const MAX_BODY_BYTES = 32_768;
/** The bytes of an answer without its text. */
const ENVELOPE_BYTES = 8_192;
const MAX_ATTEMPTS = 3;
/** The beginning of the handle of a file in a folder; the handles of kept bytes have no dot. */
const FILE_HANDLE = "skill.";

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

/** A file that is read now, and the bytes of one that an MCP server sent. */
interface OpenFile extends SkillContent {
  readonly kept?: Uint8Array<ArrayBuffer>;
}

/**
 * Answers with files of skills. A file in a folder stays there: its handle has its name and path, so it holds for as long
 * as the file does, and each part is read from the file with all checks. A file of an MCP server is kept like any other
 * large part of an answer.
 */
export class SkillReader implements ComputerSkills {
  readonly #skills: Skills;
  readonly #files = new SkillFiles();

  constructor(skills: Skills) {
    this.#skills = skills;
  }

  async list(): Promise<SkillListing> {
    return await this.#skills.list();
  }

  /**
   * Reads a file (`client:get_skill`).
   *
   * @throws {SmcpError} 4014, 4016 and 4017 as the protocol says.
   */
  async get(request: SkillFileRequest, place: SkillAnswerPlace): Promise<Omit<GetSkillRet, "req_id">> {
    const { name, rel_path: relPath = "" } = request;
    const found = await this.#skills.find(name);
    return await retried(relPath, async () => {
      const file = await this.#open(found, { relPath, timeoutMs: timeoutMsOf(request) });
      const { mimeType: mime_type, sizeBytes: total_size, sha256 } = file;
      const about = { name, rel_path: relPath === "" ? SKILL_FILE : relPath, mime_type, total_size, sha256 };
      const body = await bodyOf(file, place.limitBytes);
      if (body !== undefined) return { ...about, body };
      return { ...about, blob_handle: await handleOf(file, { name, relPath, blobs: place.blobs }) };
    });
  }

  async read(name: string, options: LocalSkillOptions = {}): Promise<LocalSkillFile> {
    const { relPath = "", signal } = options;
    const found = await abortable(this.#skills.find(name), signal);
    return await retried(relPath, async () => {
      const opening = this.#open(found, { relPath, timeoutMs: toMilliseconds(options) });
      const { mimeType, sizeBytes, sha256, read } = await abortable(opening, signal);
      return {
        relPath: relPath === "" ? SKILL_FILE : relPath,
        mimeType,
        sha256,
        bytes: await read(0, sizeBytes),
      };
    });
  }

  /** Whether a handle is that of a file in a folder. */
  isHandle(handle: string): boolean {
    return handle.startsWith(FILE_HANDLE);
  }

  /**
   * Reads a part of a file in a folder.
   *
   * @throws {SmcpError} 4018 with `details.reason`: `invalid_handle`, `gone`, `forbidden` or `range`.
   */
  async readChunk({ handle, offset, maxBytes }: ChunkRequest): Promise<Omit<GetBlobRet, "req_id">> {
    const { name, relPath } = readHandle(handle);
    try {
      const found = await this.#skills.find(name);
      if (found.kind !== "folder") throw notAccessible("gone");
      return await retried(relPath, async () => {
        const { mimeType: mime_type, sizeBytes: total_size, sha256, read } = await this.#files.open(
          found.root,
          relPath,
        );
        if (offset < 0 || offset > total_size) throw notAccessible("range");
        const chunk = await read(offset, Math.min(maxBytes, MAX_CHUNK_BYTES));
        const eof = offset + chunk.byteLength === total_size;
        const about = { blob_handle: handle, mime_type, total_size, sha256, chunk_offset: offset };
        return { ...about, eof, blob: chunk.toBase64() };
      });
    } catch (error) {
      throw toBlobError(error);
    }
  }

  async #open(
    found: FoundSkill,
    { relPath, timeoutMs }: { readonly relPath: string; readonly timeoutMs: number },
  ): Promise<OpenFile> {
    if (found.kind === "folder") return await this.#files.open(found.root, relPath);
    const { server, skill } = found;
    return await readFromServer({ server, skill, relPath, timeoutMs });
  }
}

/** Repeats what a change of the file interrupts. */
async function retried<T>(relPath: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ChangedFileError)) throw error;
      if (attempt === MAX_ATTEMPTS) throw changesWhileRead(relPath, error);
    }
  }
}

/** The text of a small text file; `undefined` for any other file. */
async function bodyOf(file: SkillContent, limitBytes: number): Promise<string | undefined> {
  if (!isTextType(file.mimeType) || file.sizeBytes > MAX_BODY_BYTES) return undefined;
  const bytes = await file.read(0, file.sizeBytes);
  try {
    const body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const { length } = new TextEncoder().encode(JSON.stringify(body));
    return length + ENVELOPE_BYTES <= limitBytes ? body : undefined;
  } catch {
    return undefined;
  }
}

async function handleOf(
  file: OpenFile,
  { name, relPath, blobs }: { readonly name: string; readonly relPath: string; readonly blobs: OfficeBlobs },
): Promise<string> {
  const { kept, mimeType, sizeBytes: totalSize } = file;
  if (kept === undefined) {
    const bytes = new TextEncoder().encode(JSON.stringify([name, relPath]));
    return `${FILE_HANDLE}${bytes.toBase64({ alphabet: "base64url", omitPadding: true })}`;
  }
  const [mark] = await blobs.keep([{ bytes: kept, mimeType }]) ?? [];
  if (mark !== undefined) return mark[A2C_BLOB_HANDLE];
  throw notReadable("too_large", relPath, { totalSize, why: "the Computer has no room to keep it" });
}

function readHandle(handle: string): { readonly name: string; readonly relPath: string } {
  try {
    const bytes = Uint8Array.fromBase64(handle.slice(FILE_HANDLE.length), { alphabet: "base64url" });
    const parts = parseJson(new TextDecoder().decode(bytes));
    const [name, relPath]: unknown[] = Array.isArray(parts) ? parts : [];
    if (typeof name === "string" && typeof relPath === "string") return { name, relPath };
  } catch {
    // Not base64.
  }
  throw notAccessible("invalid_handle");
}

/** The 4018 for an error of a file or a skill. */
function toBlobError(error: unknown): unknown {
  if (!(error instanceof SmcpError) || error.code === ErrorCode.BLOB_NOT_ACCESSIBLE) return error;
  const { code, details } = error;
  if (code === ErrorCode.SKILL_NAME_INVALID) return notAccessible("invalid_handle");
  const reason = code === ErrorCode.SKILL_RESOURCE_NOT_ACCESSIBLE && isRecord(details)
    ? details["reason"]
    : "";
  return notAccessible(reason === "forbidden" || reason === "traversal" ? "forbidden" : "gone");
}

/** Reads a file from an MCP server. A failure of the server is 4017, the only error that other SDKs expect here. */
async function readFromServer(
  { server, skill, relPath, timeoutMs }: {
    readonly server: SupervisedServer;
    readonly skill: ServerSkill;
    readonly relPath: string;
    readonly timeoutMs: number;
  },
): Promise<OpenFile> {
  const path = toPathSegments(relPath).join("/");
  const uri = skill.files.get(path);
  if (uri === undefined) throw notReadable("not_found", relPath);
  const whole = await ask({ server, uri }, (connection) => connection.readResource(uri, { timeoutMs }))
    .then(({ contents }) => bytesOf(contents)).catch((cause) => {
      const isMissing = cause instanceof SmcpError && cause.code === ErrorCode.NOT_FOUND;
      const why = cause instanceof SmcpError ? cause.message : undefined;
      throw notReadable(isMissing ? "not_found" : "io_error", relPath, {
        cause,
        ...(why === undefined ? {} : { why }),
      });
    });
  const name = path.split("/").at(-1) ?? "";
  const bytes = name === SKILL_FILE ? whole.slice(bodyStartOf(whole)) : whole;
  const totalSize = bytes.byteLength;
  if (totalSize > MAX_SKILL_FILE_BYTES) throw notReadable("too_large", relPath, { totalSize });
  return {
    mimeType: mediaTypeOf(name),
    sizeBytes: totalSize,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    read: (offset, length) => Promise.resolve(bytes.slice(offset, offset + length)),
    kept: bytes,
  };
}
