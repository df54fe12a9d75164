/** A resolver for `client:get_dpe` that writes documents into files. */
import { join, toFileUrl } from "@std/path";
import { abortable } from "../../async/abortable.ts";
import { Limiter } from "../../async/limiter.ts";
import { replaceFile } from "../../files/files.ts";
import type { DPEDocument, DPEPage } from "../../protocol/dpe.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import { describeError } from "../../text/text.ts";
import { parseDpeDocument, parseDpePage } from "../../protocol/answers.ts";
import type { AnswerReader } from "../../protocol/flaws.ts";
import type { DpeResource, ReadResourceRet } from "../../protocol/resources.ts";
import { buildDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";

/** What a resolver may use. */
export interface ResolveDpeTools {
  /** Reads a `dpe://` URI through this Computer. */
  readonly read: (uri: string) => Promise<ReadResourceRet>;
  /** Aborted at the time-out of the request. */
  readonly signal: AbortSignal;
}

/** Turns a `dpe://` URI into an address from which an Agent can fetch the document. */
export type ResolveDpe = (uri: string, tools: ResolveDpeTools) => Promise<DpeResource>;

/** Where a {@linkcode fileResolver} writes, and its limits. */
export interface FileResolverOptions {
  /** The folder for the files, created when it is first needed. Its permissions are not changed. */
  readonly directory: string;
  /** The most pages of a document; 10,000 by default. A document with more pages is not resolved. */
  readonly maxPages?: number | undefined;
  /** The most bytes of JSON of a document; 64 MiB by default. A larger document is not resolved. */
  readonly maxBytes?: number | undefined;
}

const DEFAULT_MAX_PAGES = 10_000;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const PAGES_AT_A_TIME = 4;
const DOCUMENTS_AT_A_TIME = 4;
const MAX_READABLE_LENGTH = 48;

interface DocumentName {
  readonly host: string;
  readonly docRef: string;
}

/** The resolver of {@linkcode fileResolver}; its directory is absolute. */
export function openFileResolver(options: FileResolverOptions): ResolveDpe {
  const { directory, maxPages = DEFAULT_MAX_PAGES, maxBytes = DEFAULT_MAX_BYTES } = options;
  const limiter = new Limiter(DOCUMENTS_AT_A_TIME);

  async function write(document: DocumentName, tools: ResolveDpeTools): Promise<DpeResource> {
    tools.signal.throwIfAborted();
    const bytes = await readWholeDocument(document, { read: tools.read, maxPages, maxBytes });
    tools.signal.throwIfAborted();
    await Deno.mkdir(directory, { recursive: true });
    const path = join(directory, await fileNameOf(document));
    const etag = await sha256(bytes);
    if (!await hasContent(path, { etag, size: bytes.length })) await replaceFile(path, bytes);
    return { uri: toFileUrl(path).href, mime_type: "application/json", size: bytes.length, etag };
  }

  return async (uri, tools) => {
    const document = documentOf(uri);
    return await limiter.run(() => abortable(write(document, tools), tools.signal));
  };
}

function documentOf(uri: string): DocumentName {
  const { host, docRef } = parseDpeUri(uri);
  if (docRef !== undefined) return { host, docRef };
  throw unresolvable(`Cannot write document "${uri}": the URI has no document`);
}

/** The key of a document, which is unique because a host contains no slash. */
function keyOf({ host, docRef }: DocumentName): string {
  return `${host}/${docRef}`;
}

/**
 * A name that is safe on every file system: the readable part of the key, then a hash of host and key. The hash keeps
 * names unique where case is ignored, and avoids reserved names such as `CON`.
 */
export async function fileNameOf(document: DocumentName): Promise<string> {
  const hash = await sha256(new TextEncoder().encode(keyOf(document)));
  const readable = document.docRef.replace(/[^A-Za-z0-9]+/g, "-").slice(0, MAX_READABLE_LENGTH).replace(
    /^-|-$/g,
    "",
  );
  return `${readable === "" ? "document" : readable}-${hash.slice(0, 32)}.json`;
}

/** The file's content: Level 1, with every page of Level 2 in `pages`. */
async function readWholeDocument(
  { host, docRef }: DocumentName,
  options: Pick<ResolveDpeTools, "read"> & { readonly maxPages: number; readonly maxBytes: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const { read, maxPages, maxBytes } = options;
  let free = maxBytes;
  const readJson = async <T>(uri: string, parse: AnswerReader<T>): Promise<T> => {
    const { contents } = await read(uri);
    const text = contents.find((item) => item.text !== undefined)?.text ?? "";
    free -= text.length;
    if (free < 0) throw tooLarge(docRef, maxBytes);
    return parseJson(uri, text, parse);
  };
  const document: DPEDocument = await readJson(buildDpeUri({ host, docRef }), parseDpeDocument);
  const { page_count } = document;
  if (page_count > maxPages) {
    throw unresolvable(
      `Cannot write document "${docRef}": it has ${page_count} pages, more than ${maxPages}`,
    );
  }
  const pages: DPEPage[] = [];
  while (pages.length < page_count) {
    const indices = Array.from({ length: PAGES_AT_A_TIME }, (_, i) => pages.length + i);
    const uris = indices.filter((index) => index < page_count)
      .map((index) => buildDpeUri({ host, docRef, subPath: `pages/${index}` }));
    pages.push(...await Promise.all(uris.map((uri) => readJson(uri, parseDpePage))));
  }
  const whole = { ...document, pages, page_offset: 0, page_limit: page_count, page_total: page_count };
  const bytes = new TextEncoder().encode(`${JSON.stringify(whole)}\n`);
  if (bytes.length > maxBytes) throw tooLarge(docRef, maxBytes);
  return bytes;
}

function parseJson<T>(uri: string, text: string, parse: AnswerReader<T>): T {
  try {
    // The file must contain the whole document, so a flaw is an error here.
    return parse(JSON.parse(text), (field, what) => {
      throw badRequest(field, `its "${field}" is ${what}`);
    });
  } catch (cause) {
    const why = cause instanceof SmcpError ? describeError(cause) : "its MCP server did not return JSON";
    throw unresolvable(`Cannot write "${uri}": ${why}`, cause);
  }
}

function tooLarge(docRef: string, maxBytes: number): SmcpError {
  return unresolvable(`Cannot write document "${docRef}": it has more than ${maxBytes} bytes`);
}

/** An error whose reason is sent to the Agent. */
function unresolvable(reason: string, cause?: unknown): SmcpError {
  return new SmcpError(ErrorCode.DPE_RESOLUTION_FAILED, reason, { cause });
}

async function hasContent(
  path: string,
  { etag, size }: { readonly etag: string; readonly size: number },
): Promise<boolean> {
  try {
    const { isFile, size: found } = await Deno.stat(path);
    return isFile && found === size && await sha256(await Deno.readFile(path)) === etag;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
