/** Source code: an outline of its top definitions and the members of long types, each with its code. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { type DecodedText, decodeText } from "../decode_text.ts";
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
  return readCode(decodeText(bytes), fileName);
}

/** Reads a text as code. Without an end of its name, its first line may tell the program that runs it. */
export function readCode({ text, losses }: DecodedText, fileName: string): ParsedDocument {
  // Programs number the older ones of their logs.
  const extension = extensionOf(fileName.replace(/(?:\.\d+)+$/, "")) || runBy(text) || fileName.toLowerCase();
  const elements = toElements(text, extension);
  const pages = divide(elements, { title: fileName });
  return documentOf(pages, { elements, title: undefined, opening: leadingComment(text), losses });
}

const INTERPRETERS: Readonly<Record<string, string>> = {
  python: "py",
  node: "js",
  deno: "ts",
  ruby: "rb",
  perl: "pl",
  php: "php",
  lua: "lua",
};

function runBy(text: string): string | undefined {
  const name = /^#!.*?\b(sh|python|node|deno|ruby|perl|php|lua|[a-z]+sh)\d?\b/.exec(text.slice(0, 200))?.[1];
  return name && (INTERPRETERS[name] ?? "sh");
}

function toElements(text: string, extension: string): DocumentElement[] {
  const language = languageOf(extension);
  const definitions = language === undefined ? [] : outlineOf(text, language);
  const elements = [...pieces(text.slice(0, definitions[0]?.from), extension)];
  for (const [index, { title, from, isMember }] of definitions.entries()) {
    elements.push({ category: "heading", content: { level: isMember ? 3 : 2, text: title } });
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
