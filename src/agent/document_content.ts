/** From what a read answered to a typed document, page or element. */
import type { LogFields } from "../log.ts";
import type { DPEDocument, DPEDocumentPages, DPEElementDetail, DPEFormat, DPEPage } from "../protocol/dpe.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { describeError } from "../text.ts";
import { parseJson } from "../json.ts";
import { parseDpeDocument, parseDpeElement, parseDpePage } from "../protocol/answers.ts";
import type { AnswerReader } from "../protocol/flaws.ts";
import type { ReadResourceRet, ResourceContents } from "../protocol/resources.ts";
import { parseDpeUri } from "../uri/dpe_uri.ts";
import { Flaws } from "./requests.ts";

/** The answer to a read of `uri`. */
export interface DocumentAnswer {
  readonly uri: string;
  readonly result: ReadResourceRet;
  /** The format that was asked for; `json` by default. */
  readonly format?: DPEFormat | undefined;
  /** Called once, with the fields of a log line, when parts of it are left out or repaired. */
  readonly onFlaws?: ((fields: LogFields) => void) | undefined;
}

/** A text that an MCP server rendered itself, under the member that shall hold it. */
type RenderedText = { content_markdown: string } | { content_text: string };

/** Level 1. */
export function readDocument(answer: DocumentAnswer): DPEDocument {
  return readModel(answer, { what: "document", parse: parseDpeDocument });
}

/** Level 1 with `depth=pages`: the page index is there, empty when the MCP server left it out. */
export function readDocumentPages(answer: DocumentAnswer): DPEDocumentPages {
  const document = readDocument(answer);
  return { ...document, pages: document.pages ?? [] };
}

/** Level 2. A page that came as Markdown or text alone has no title and no elements. */
export function readPage(answer: DocumentAnswer): DPEPage {
  return readModel(answer, {
    what: "page",
    parse: parseDpePage,
    wrap(text) {
      const { docRef, pageIndex = 0 } = parseDpeUri(answer.uri);
      return {
        page_index: pageIndex,
        title: "",
        ...docRefOf(docRef),
        uri: answer.uri,
        elements: [],
        ...text,
      };
    },
  });
}

/** Level 3. An element that came as Markdown or text alone is of category `text`. */
export function readElement(answer: DocumentAnswer): DPEElementDetail {
  return readModel(answer, {
    what: "element",
    parse: parseDpeElement,
    wrap(text, raw) {
      const { docRef, elementId = "" } = parseDpeUri(answer.uri);
      const named = { element_id: elementId, category: "text", content: { text: raw } };
      return { ...named, ...docRefOf(docRef), uri: answer.uri, ...text };
    },
  });
}

function docRefOf(docRef: string | undefined): { doc_ref?: string } {
  return docRef === undefined ? {} : { doc_ref: docRef };
}

function readModel<T>(
  answer: DocumentAnswer,
  model: {
    readonly what: string;
    readonly parse: AnswerReader<T>;
    readonly wrap?: (text: RenderedText, raw: string) => T;
  },
): T {
  const { what, parse, wrap } = model;
  const contents = answer.result.contents.find(hasText);
  if (contents === undefined) throw unreadable(what, { answer, why: "it has no text" });
  const { text } = contents;
  const rendered = wrap === undefined ? undefined : renderedText(contents, answer.format);
  const parsed = parseJson(text);
  // Many MCP servers call their JSON `text/plain`, which is what their framework writes by default.
  if (parsed === undefined || isMarkdown(contents)) {
    if (rendered !== undefined && wrap !== undefined) return wrap(rendered, text);
    throw unreadable(what, { answer, why: "it is not JSON" });
  }
  try {
    const flaws = new Flaws();
    const model = parse(parsed, flaws.add);
    if (flaws.count > 0) answer.onFlaws?.(flaws.fields);
    return model;
  } catch (cause) {
    if (rendered !== undefined && wrap !== undefined) return wrap(rendered, text);
    throw unreadable(what, { answer, why: describeError(cause), cause });
  }
}

function renderedText(contents: TextContents, format: DPEFormat | undefined): RenderedText | undefined {
  const { mimeType = "", text } = contents;
  if (isMarkdown(contents)) return { content_markdown: text };
  if (!/^text\/plain\b/i.test(mimeType)) return undefined;
  return format === "markdown" ? { content_markdown: text } : { content_text: text };
}

type TextContents = ResourceContents & { readonly text: string };

function hasText(contents: ResourceContents): contents is TextContents {
  return contents.text !== undefined;
}

function isMarkdown({ mimeType = "" }: ResourceContents): boolean {
  return /^text\/(?:x-)?markdown\b/i.test(mimeType);
}

function unreadable(
  what: string,
  problem: { readonly answer: DocumentAnswer; readonly why: string; readonly cause?: unknown },
): SmcpError {
  const { uri } = problem.answer;
  return new SmcpError(ErrorCode.INTERNAL_ERROR, `Cannot read ${what} "${uri}": ${problem.why}`, {
    details: { uri },
    cause: problem.cause,
  });
}
