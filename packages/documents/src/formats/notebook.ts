/** Notebooks of Jupyter: text, code and what it gave. Nothing is run. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { isRecord } from "../basics.ts";
import { decodeText } from "./decode_text.ts";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable, UnreadParts } from "./format.ts";
import { readHtml } from "./html/mod.ts";
import { plainOpening, readMarkdown } from "./markdown.ts";
import { PictureRoom } from "./picture.ts";
import { documentOf, headingsOf, notice, toCodeElements, toSections } from "./sections.ts";
import { decodePath } from "./zip.ts";

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
    if (isRecord(notebook) && Array.isArray(notebook["cells"])) return notebook;
  } catch (cause) {
    throw unreadable("damaged", "the file is damaged: it is no JSON", { cause });
  }
  throw unreadable(
    "damaged",
    "the file has no cells: it is no notebook, or of before 2015; save it in Jupyter",
  );
}

class NotebookReader {
  readonly #notebook: Record<string, unknown>;
  readonly #limits: ParseLimits;
  readonly #unread = new UnreadParts();
  readonly #language: string;
  readonly #pictures = new PictureRoom();

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
    for (const cell of listOf(this.#notebook["cells"])) {
      const source = textOf(cell["source"]);
      switch (cell["cell_type"]) {
        case "markdown":
          yield* this.#markdown(withAttachments(source, memberOf(cell, "attachments")));
          break;
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
    yield* losses.map(notice);
  }

  #output(output: Record<string, unknown>): Iterable<DocumentElement> {
    switch (output["output_type"]) {
      case "stream":
        return outputOf(textOf(output["text"]));
      case "error":
        return outputOf(
          lines(output["traceback"], "\n") || `${textOf(output["ename"])}: ${textOf(output["evalue"])}`,
        );
      default:
        return this.#data(memberOf(output, "data"));
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
    const content = this.#pictures.take(bytes.length, () => bytes, { description: "Output", type });
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
