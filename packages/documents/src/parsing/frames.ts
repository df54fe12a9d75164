/** The messages between the documents server and its parser processes: JSON with bytes behind it. */
import type { DocumentPage } from "@a2c-smcp/sdk/provider";
import type {
  DocumentErrorCode,
  DocumentFacts,
  PageOptions,
  ParseLimits,
  ScanTexts,
} from "../formats/format.ts";
import type { FileKind } from "../formats/kinds.ts";
import type { PageText } from "../search/terms.ts";

/** What the server asks a process. The process answers in the order of the requests. */
export type ParseRequest =
  /** Opens the file whose bytes follow; answered with its facts. */
  | {
    readonly ask: "open";
    readonly document: number;
    readonly kind: FileKind;
    readonly fileName: string;
    readonly limits: ParseLimits;
    readonly scanTexts?: ScanTexts | undefined;
    readonly timeMs: number;
  }
  /** Answered with a page of an open document. */
  | {
    readonly ask: "page";
    readonly document: number;
    readonly index: number;
    readonly options: PageOptions;
    readonly timeMs: number;
  }
  /** Answered with the terms of the pages from a number on, of as many as a short time allows. */
  | { readonly ask: "terms"; readonly document: number; readonly from: number; readonly timeMs: number }
  /** Forgets a document; not answered. */
  | { readonly ask: "close"; readonly document: number };

export type ParseAnswer =
  | { readonly facts: DocumentFacts }
  /** With the texts of scans that were read for it. */
  | { readonly page: DocumentPage; readonly scanTexts: ScanTexts | undefined }
  | { readonly terms: readonly PageText[]; readonly scanTexts: ScanTexts | undefined }
  /** The file is at fault. */
  | { readonly refused: DocumentErrorCode; readonly message: string }
  /** A limit was exceeded, or the parser threw something else. After a limit, the process ends. */
  | { readonly failed: ParseFailure; readonly message: string };

/** The exit code of a process that took too much memory. */
export const MEMORY_EXIT_CODE = 3;

export type ParseFailure = "time" | "memory" | "output" | "error" | "disk" | "killed";

/** The two lengths before each message: of its JSON and of its bytes, little-endian. */
const HEAD_BYTES = 8;

export function toJson(message: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(message));
}

/** Writes one message. Its parts are queued at once, so that no other message comes between them. */
export async function writeFrame(
  output: WritableStreamDefaultWriter<Uint8Array>,
  json: Uint8Array,
  bytes: Uint8Array = new Uint8Array(),
): Promise<void> {
  const head = new DataView(new ArrayBuffer(HEAD_BYTES));
  head.setUint32(0, json.length, true);
  head.setUint32(4, bytes.length, true);
  const parts = [new Uint8Array(head.buffer), json, ...bytes.length === 0 ? [] : [bytes]];
  await Promise.all(parts.map((part) => output.write(part)));
}

export interface Frame {
  readonly message: unknown;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Reads messages from a stream; ends with the stream, also in the middle of a message.
 *
 * @param maxBytes the most bytes of one message; throws a RangeError for a longer one
 */
export async function* readFrames(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Frame, void> {
  const reader = stream.getReader({ mode: "byob" });
  try {
    for (;;) {
      const head = await take(reader, HEAD_BYTES);
      if (head === undefined) return;
      const view = new DataView(head.buffer);
      const [jsonBytes, bodyBytes] = [view.getUint32(0, true), view.getUint32(4, true)];
      if (jsonBytes + bodyBytes > maxBytes) {
        throw new RangeError(
          `Cannot read message: it has ${jsonBytes + bodyBytes} bytes, more than ${maxBytes}`,
        );
      }
      const json = await take(reader, jsonBytes);
      const bytes = await take(reader, bodyBytes);
      if (json === undefined || bytes === undefined) return;
      yield { message: JSON.parse(new TextDecoder().decode(json)), bytes };
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The next bytes, in a buffer of their own; `undefined` when the stream ends before. */
async function take(
  reader: ReadableStreamBYOBReader,
  length: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (length === 0) return new Uint8Array();
  const { value } = await reader.read(new Uint8Array(length), { min: length });
  return value?.length === length ? value : undefined;
}
