/** Source code: an outline of its top definitions, each with its code. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { decodeText } from "../decode_text.ts";
import type { ParsedDocument, ParseInput } from "../format.ts";
import { extensionOf } from "../../file_name.ts";
import { languageOf } from "./languages.ts";
import { outlineOf } from "./outline.ts";
import { divide, documentOf, toCodeElements } from "../sections.ts";

/** A line above the first comment, or a comment, that speaks to programs. */
const NO_SUMMARY =
  /^(?:#!|<\?php\s*$|\s*(?:#|\/\/|\/\*|--)\s*(?:-\*-|vim?:|frozen_string_literal:|(?:en)?coding[:=]|eslint|@ts-|deno-|prettier-ignore|shellcheck |pylint:|SPDX-))/;

/** Opens a file of source code. Its pages are parts of about the same length. */
export function open({ bytes, fileName }: ParseInput): ParsedDocument {
  const { text, losses } = decodeText(bytes);
  const extension = extensionOf(fileName);
  const elements = toElements(text, extension);
  const pages = divide(elements, { title: fileName });
  return documentOf(pages, { elements, title: undefined, opening: leadingComment(text), losses });
}

function toElements(text: string, extension: string): DocumentElement[] {
  const language = languageOf(extension);
  const definitions = language === undefined ? [] : outlineOf(text, language);
  const elements = [...pieces(text.slice(0, definitions[0]?.from), extension)];
  for (const [index, { title, from }] of definitions.entries()) {
    elements.push({ category: "heading", content: { level: 2, text: title } });
    elements.push(...pieces(text.slice(from, definitions[index + 1]?.from), extension));
  }
  return elements;
}

function pieces(text: string, language: string): Generator<DocumentElement, void> {
  return toCodeElements(text.replace(/^\n+/, "").trimEnd(), language);
}

/** The documentation of a module of Python, after comments. */
const DOCSTRING = /^(?:[ \t]*(?:#.*)?\n)*[ \t]*[rRuU]?("""|''')([^]*?)(?:\1|$)/;

/** The comment at the beginning of the file, which says what it is. */
function leadingComment(text: string): string {
  const documentation = DOCSTRING.exec(text.slice(0, 8_000))?.[2];
  if (documentation !== undefined) return documentation.trim().slice(0, 2_000).toWellFormed();
  const lines: string[] = [];
  for (const line of text.split("\n", 60)) {
    if (NO_SUMMARY.test(line) || (lines.length === 0 && line.trim() === "")) continue;
    if (!/^\s*(?:\/\/|\/\*|\*|#|--|;)/.test(line)) break;
    lines.push(
      line.replace(/^\s*(?:\/\/+!?|\/\*+|\*+\/?|#+|--|;+)\s?/, "").replace(/\*\/$/, "").trimEnd(),
    );
  }
  return lines.join(" ").trim().slice(0, 2_000).toWellFormed();
}
