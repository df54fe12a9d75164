/**
 * The program of a parser process. A worker runs the parsers, which may never give the control back, so the main thread
 * watches the memory: that of WebAssembly and buffers is counted nowhere but in the process. The time is watched from
 * outside. The process has no permission but to read its own code.
 */
import { describeError } from "../basics.ts";
import { DocumentError, type ParsedDocument } from "../formats/format.ts";
import { openFile } from "../formats/kinds.ts";
import { recognizerOf } from "../formats/ocr.ts";
import { pageTerms, type PageText } from "../search/terms.ts";
import { MEMORY_EXIT_CODE, type ParseAnswer, type ParseRequest, readFrames, writeFrame } from "./frames.ts";

/** How often the memory is compared with its limit, in milliseconds. */
const WATCH_INTERVAL_MS = 50;

/** The most bytes of JSON of one answer; more than a page may have, since its JSON is escaped. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Above this size of a file, in bytes, the memory that it took is given back as soon as it is closed or refused. V8 would
 * keep it until it needs it, and it would count in the limit of the next file.
 */
const LARGE_FILE_BYTES = 1024 * 1024;

/** How long the terms of pages are collected for one answer, in milliseconds, and how many of them at most. */
const TERMS_MS = 150;
const MAX_TERMS = 100_000;

/** A document that is open, with the size of its file in bytes. */
interface OpenDocument {
  readonly parsed: ParsedDocument;
  readonly fileSize: number;
}

interface WorkerScope {
  postMessage(message: unknown): void;
  /** Collects garbage. It exists, because the process runs with `--expose-gc` of V8. */
  gc?(): void;
}

/** Starts the worker, which has the permissions of this process, and ends with it. */
function watch(maxMemoryBytes: number): void {
  const worker = new Worker(import.meta.url, { type: "module" });
  worker.onmessage = () => Deno.exit();
  worker.onerror = (event) => {
    event.preventDefault();
    console.error(event.message);
    Deno.exit(1);
  };
  setInterval(() => {
    if (Deno.memoryUsage().rss > maxMemoryBytes) Deno.exit(MEMORY_EXIT_CODE);
  }, WATCH_INTERVAL_MS);
}

/** Answers the requests that come on standard input, one after the other, until it ends. */
async function serve(scope: WorkerScope, maxMessageBytes: number): Promise<void> {
  // Standard output belongs to the answers.
  console.log = console.info = console.debug = console.error;
  const output = Deno.stdout.writable.getWriter();
  const documents = new Map<number, OpenDocument>();
  for await (const { message, bytes } of readFrames(Deno.stdin.readable, maxMessageBytes)) {
    const request = message as ParseRequest;
    const fileSize = request.ask === "open" ? bytes.length : documents.get(request.document)?.fileSize ?? 0;
    if (request.ask === "close") {
      documents.get(request.document)?.parsed.close?.();
      documents.delete(request.document);
    } else {
      const answer = await run(documents, request, bytes).catch(toFailure);
      await writeFrame(output, encode(answer));
      if (request.ask !== "open" || "facts" in answer) continue;
    }
    if (fileSize > LARGE_FILE_BYTES) scope.gc?.();
  }
  scope.postMessage("end");
}

async function run(
  documents: Map<number, OpenDocument>,
  request: Exclude<ParseRequest, { ask: "close" }>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<ParseAnswer> {
  if (request.ask === "open") {
    const { kind, fileName, limits, document, scanTexts } = request;
    const fileSize = bytes.length;
    const parsed = await openFile(kind, { bytes, fileName, limits, recognize, scanTexts });
    documents.set(document, { parsed, fileSize });
    return { facts: parsed.facts };
  }
  const opened = documents.get(request.document);
  if (opened === undefined) throw new RangeError(`Cannot read document ${request.document}: it is not open`);
  const { parsed } = opened;
  const read = request.ask === "terms"
    ? { terms: await collectTerms(parsed, request.from) }
    : { page: await parsed.page(request.index, request.options) };
  return { ...read, scanTexts: parsed.takeScanTexts?.() };
}

/**
 * The terms of the pages from a number on, at least of one. A page that cannot be read has none. Pages have titles where the
 * document says nothing of what is on them.
 */
async function collectTerms({ facts, page }: ParsedDocument, from: number): Promise<PageText[]> {
  const pages: PageText[] = [];
  const isNamed = facts.pageTitles !== undefined || (facts.outline ?? []).length > 0;
  let count = 0;
  const endMs = performance.now() + TERMS_MS;
  for (let index = from; index < facts.pageCount; index++) {
    const text = await Promise.resolve(page(index, { isPlain: true })).then(
      (page): PageText => ({ terms: pageTerms(page), ...(isNamed ? {} : { title: page.title }) }),
      (): PageText => ({ terms: [] }),
    );
    pages.push(text);
    count += text.terms.length;
    if (performance.now() > endMs || count > MAX_TERMS) break;
  }
  return pages;
}

function toFailure(error: unknown): ParseAnswer {
  if (error instanceof DocumentError) return { refused: error.code, message: error.reason };
  return { failed: "error", message: describeError(error) };
}

function encode(answer: ParseAnswer): Uint8Array {
  const json = new TextEncoder().encode(toWellFormedJson(JSON.stringify(answer)));
  if (json.length <= MAX_ANSWER_BYTES) return json;
  const message = `its content has ${json.length} bytes, more than ${MAX_ANSWER_BYTES}`;
  return new TextEncoder().encode(JSON.stringify({ failed: "output", message } satisfies ParseAnswer));
}

/** A half of a character, which `JSON.stringify` escapes, or any other escape. */
const ESCAPE = /\\(?:(ud[89a-f]\w\w)|[^])/g;

/** JSON with `�` in place of halves of characters: JSON files can have them, and many parsers of JSON refuse them. */
function toWellFormedJson(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(ESCAPE, (escape, half?: string) => half === undefined ? escape : "\ufffd");
}

const [maxMemoryBytes = NaN, maxMessageBytes = NaN] = Deno.args.map(Number);
const languages = Deno.args[2];
const recognize = languages === undefined ? undefined : recognizerOf(languages);
if ("WorkerGlobalScope" in globalThis) await serve(globalThis as unknown as WorkerScope, maxMessageBytes);
else if (import.meta.main) watch(maxMemoryBytes);
