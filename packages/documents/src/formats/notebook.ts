/** Notebooks of Jupyter: text, code and what it gave. Nothing is run. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { isRecord } from "../basics.ts";
import { decodeText } from "./decode_text.ts";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable, UnreadParts } from "./format.ts";
import { readHtml } from "./html/mod.ts";
import { plainOpening, readMarkdown } from "./markdown.ts";
import { pictureOf } from "./picture.ts";
import { documentOf, headingsOf, toCodeElements, toSections } from "./sections.ts";
import { decodePath } from "./zip.ts";

/** The most bytes of all pictures that are sent along. */
const MAX_PICTURES_BYTES = 48 * 1024 * 1024;
/** The colors and the like that programs write to a terminal. */
// deno-lint-ignore no-control-regex
const TERMINAL_CODE = /\x1b\[[\d;?]*[ -/]*[@-~]|\x1b[@-_]/g;

/** Opens a notebook. Its pages are the sections under its top headings. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const { text, losses } = decodeText(bytes);
  const notebook = parse(text);
  const reader = new NotebookReader(notebook, limits);
  const elements = [...reader.read()];
  const metadata = memberOf(notebook, "metadata");
  const title = textOf(metadata["title"]) || headingsOf(elements, 1)[0];
  const author = listOf(metadata["authors"]).map((each) => textOf(each["name"])).filter(Boolean).join(", ");
  return documentOf(toSections(elements, title ?? fileName), {
    elements,
    title,
    opening: plainOpening(elements, limits),
    ...(author === "" ? {} : { about: { author } }),
    losses: [...losses, ...reader.losses],
  });
}

function parse(text: string): Record<string, unknown> {
  try {
    const notebook: unknown = JSON.parse(text);
    if (isRecord(notebook) && (Array.isArray(notebook["cells"]) || Array.isArray(notebook["worksheets"]))) {
      return notebook;
    }
  } catch (cause) {
    throw unreadable("damaged", "the file is damaged: it is no JSON", { cause });
  }
  throw unreadable("damaged", "the file is no notebook: it has no cells");
}

class NotebookReader {
  readonly #notebook: Record<string, unknown>;
  readonly #limits: ParseLimits;
  readonly #unread = new UnreadParts();
  readonly #language: string;
  #pictureRoomBytes = MAX_PICTURES_BYTES;

  constructor(notebook: Record<string, unknown>, limits: ParseLimits) {
    this.#notebook = notebook;
    this.#limits = limits;
    const metadata = memberOf(notebook, "metadata");
    this.#language = textOf(memberOf(metadata, "language_info")["name"]) ||
      textOf(memberOf(metadata, "kernelspec")["language"]) || "python";
  }

  get losses(): readonly string[] {
    return this.#unread.losses;
  }

  *read(): Generator<DocumentElement, void> {
    // Notebooks of before 2014 have their cells in sheets.
    const sheets = [this.#notebook, ...listOf(this.#notebook["worksheets"])];
    for (const cell of sheets.flatMap((sheet) => listOf(sheet["cells"]))) {
      const source = textOf(cell["source"] ?? cell["input"]);
      switch (cell["cell_type"]) {
        case "markdown":
          yield* this.#markdown(withAttachments(source, memberOf(cell, "attachments")));
          break;
        case "heading": {
          const level = Math.min(Math.max(Math.trunc(Number(cell["level"])) || 1, 1), 6);
          yield { category: "heading", content: { level, text: source } };
          break;
        }
        case "code":
          yield* toCodeElements(source, this.#language);
          for (const output of listOf(cell["outputs"])) yield* this.#output(output);
          break;
        default:
          yield* toCodeElements(source, "text");
      }
    }
  }

  *#markdown(text: string): Generator<DocumentElement, void> {
    const { elements, losses } = readMarkdown(text, this.#limits);
    yield* elements;
    for (const text of losses) yield { category: "annotation", content: { text } };
  }

  #output(output: Record<string, unknown>): Iterable<DocumentElement> {
    switch (output["output_type"]) {
      case "stream":
        return outputOf(textOf(output["text"]));
      case "error":
      case "pyerr":
        return outputOf(
          lines(output["traceback"], "\n") || `${textOf(output["ename"])}: ${textOf(output["evalue"])}`,
        );
      default:
        // Older notebooks have the data beside the kind of the output, by other names.
        return this.#data(isRecord(output["data"]) ? output["data"] : namedByType(output));
    }
  }

  /** The form of some data that says the most. */
  *#data(data: Record<string, unknown>): Generator<DocumentElement, void> {
    const types = Object.keys(data);
    const picture = types.find((type) => /^image\/(?:png|jpeg|gif|webp|svg\+xml)$/.test(type));
    const html = textOf(data["text/html"]);
    if (picture !== undefined) yield this.#picture(textOf(data[picture]), picture.slice(6));
    else if (/<table\b/i.test(html)) yield* readHtml(html, this.#limits).elements;
    else if (types.includes("text/markdown")) yield* this.#markdown(textOf(data["text/markdown"]));
    else if (types.includes("text/latex")) {
      const expression = textOf(data["text/latex"]).trim().replace(/^\$\$?|\$\$?$/g, "").trim();
      yield { category: "formula", content: { expression } };
    } else if (types.includes("text/plain")) yield* outputOf(textOf(data["text/plain"]));
    else if (html !== "") yield* readHtml(html, this.#limits).elements;
    else if (types.includes("application/json")) {
      yield* toCodeElements(JSON.stringify(data["application/json"], undefined, 2), "json");
    } else for (const type of types) this.#unread.add(type);
  }

  #picture(text: string, type: string): DocumentElement {
    const bytes = type.startsWith("svg") ? new TextEncoder().encode(text) : bytesOf(text);
    const isSent = bytes.length <= this.#pictureRoomBytes;
    if (isSent) this.#pictureRoomBytes -= bytes.length;
    const content = pictureOf(isSent ? bytes : bytes.length, { description: "Output", type });
    return { category: "image", content };
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return new Uint8Array();
  }
}

/** What a program wrote, as a terminal shows it in the end. */
function outputOf(text: string): Iterable<DocumentElement> {
  const shown = text.replace(TERMINAL_CODE, "").replace(/\r+\n/g, "\n").replace(/^.*\r(?=[^\n])/gm, "");
  return toCodeElements(shown.trimEnd(), "output");
}

/** Pictures that are kept with a cell are named `attachment:name` in its text. */
function withAttachments(text: string, attachments: Record<string, unknown>): string {
  return text.replace(/\]\(attachment:([^)\s]+)/g, (whole, name: string) => {
    const [type, base64] = Object.entries(memberOf(attachments, decodePath(name)))[0] ?? [];
    return type === undefined ? whole : `](data:${type};base64,${textOf(base64)}`;
  });
}

const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpeg: "image/jpeg",
  svg: "image/svg+xml",
  html: "text/html",
  latex: "text/latex",
  json: "application/json",
  text: "text/plain",
};

function namedByType(output: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(TYPES).flatMap(([name, type]) => output[name] === undefined ? [] : [[type, output[name]]]),
  );
}

function memberOf(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const member = value[name];
  return isRecord(member) ? member : {};
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A text, which notebooks write as one or as a list of lines. */
function textOf(value: unknown): string {
  return lines(value, "");
}

function lines(value: unknown, separator: string): string {
  if (Array.isArray(value)) return value.filter((line) => typeof line === "string").join(separator);
  return typeof value === "string" ? value : "";
}
