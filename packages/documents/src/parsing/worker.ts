/**
 * Runs the parsers, in a worker of a parser process (`child.ts`), without any permission but to read their own code.
 */
import { DocumentError, type ParsedDocument } from "../formats/format.ts";
import { openFile } from "../formats/kinds.ts";
import { describeError } from "../basics.ts";
import type { ParseAnswer, ParseRequest } from "./frames.ts";

/** A request with the bytes of a file, as the process passes it on. */
export interface WorkerJob {
  readonly request: ParseRequest;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The most bytes of JSON of one answer; more than a page may have, since its JSON is escaped. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Above this size of a file, in bytes, the memory that it took is given back as soon as it is closed or refused. V8 would
 * keep it until it needs it, and it would count in the limit of the next file.
 */
const LARGE_FILE_BYTES = 1024 * 1024;

/** A document that is open, with the size of its file in bytes. */
interface OpenDocument {
  readonly parsed: ParsedDocument;
  readonly fileSize: number;
}

const documents = new Map<number, OpenDocument>();
const encoder = new TextEncoder();

interface WorkerScope {
  onmessage: (event: MessageEvent<WorkerJob>) => void;
  postMessage(answer: Uint8Array, transfer: Transferable[]): void;
  /** Collects garbage. It exists, because the process runs with `--expose-gc` of V8. */
  gc?(): void;
}

/** Answers the requests that come to a worker, one after the other. */
function serve(scope: WorkerScope): void {
  // Standard output belongs to the answers.
  console.log = console.info = console.debug = console.error;
  let last = Promise.resolve();
  scope.onmessage = ({ data }) => {
    last = last.then(() => answer(scope, data));
  };
}

async function answer(scope: WorkerScope, { request, bytes }: WorkerJob): Promise<void> {
  let releasedBytes = 0;
  if (request.ask === "close") {
    releasedBytes = close(request.document);
  } else {
    const fileSize = bytes.length;
    const result = await run(request, bytes).catch(toFailure);
    const json = encode(result);
    scope.postMessage(json, [json.buffer]);
    if (request.ask === "open" && !("facts" in result)) releasedBytes = fileSize;
  }
  if (releasedBytes > LARGE_FILE_BYTES) scope.gc?.();
}

async function run(
  request: Exclude<ParseRequest, { ask: "close" }>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<ParseAnswer> {
  if (request.ask === "open") {
    const { kind, fileName, limits, document } = request;
    const fileSize = bytes.length;
    const parsed = await openFile(kind, { bytes, fileName, limits });
    documents.set(document, { parsed, fileSize });
    return { facts: parsed.facts };
  }
  const opened = documents.get(request.document);
  if (opened === undefined) throw new RangeError(`Cannot read document ${request.document}: it is not open`);
  return { page: await opened.parsed.page(request.index, request.options) };
}

/** Closes a document, and returns the size of its file in bytes. */
function close(document: number): number {
  const opened = documents.get(document);
  documents.delete(document);
  opened?.parsed.close?.();
  return opened?.fileSize ?? 0;
}

function toFailure(error: unknown): ParseAnswer {
  if (error instanceof DocumentError) return { refused: error.code, message: error.reason };
  return { failed: "error", message: describeError(error) };
}

function encode(answer: ParseAnswer): Uint8Array<ArrayBuffer> {
  const json = encoder.encode(toWellFormedJson(JSON.stringify(answer)));
  if (json.length <= MAX_ANSWER_BYTES) return json;
  const message = `its content has ${json.length} bytes, more than ${MAX_ANSWER_BYTES}`;
  return encoder.encode(JSON.stringify({ failed: "output", message } satisfies ParseAnswer));
}

/** A half of a character, which `JSON.stringify` escapes, or any other escape. */
const ESCAPE = /\\(?:(ud[89a-f]\w\w)|[^])/g;

/** JSON with `�` in place of halves of characters: JSON files can have them, and many parsers of JSON refuse them. */
function toWellFormedJson(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(ESCAPE, (escape, half?: string) => half === undefined ? escape : "\ufffd");
}

if ("WorkerGlobalScope" in globalThis) serve(globalThis as unknown as WorkerScope);
