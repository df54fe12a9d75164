/** Source code: an outline of its top definitions, each with its code. */
import type { DocumentElement } from "../../provider/documents/source.ts";
import { decodeText } from "./decode_text.ts";
import type { ParsedDocument, ParseInput } from "./format.ts";
import { extensionOf } from "../file_name.ts";
import { headingsOf, toParts } from "./sections.ts";

/** The most characters of one element; a longer definition is continued. */
const MAX_CODE = 20_000;
/** The most characters of a line that are looked at. */
const MAX_LINE = 400;

/** The beginning of a definition that is not indented. The words before the keyword are modifiers. */
const DEFINITION =
  /^(?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|async|declare|pub(?:\([^)]{0,40}\))?|unsafe|extern|inline|open|data|partial|override|suspend|virtual|const) +){0,6}(?:function\*?|class|interface|enum|type|namespace|module|def|fn|func|fun|struct|trait|impl|union|mod|record|object|protocol|extension|sub|package|procedure|macro_rules!|const|let|var|val|CREATE +\w+)\b/;
/** What belongs to the definition below it. */
const BEFORE = /^(?:\/\/|#(?!include|define|if|endif)|\*|\/\*|--|@|\[<?[A-Z]| \*|"""|;;)/;

/** Opens a file of source code. Its pages are parts of about the same length. */
export function open({ bytes, fileName }: ParseInput): ParsedDocument {
  const { text, encoding, isGuess } = decodeText(bytes);
  const language = extensionOf(fileName);
  const elements = toElements(text.split("\n"), language);
  const pages = toParts(elements, fileName);
  const headings = headingsOf(elements);
  return {
    facts: {
      pageCount: pages.length,
      pageTitles: pages.map(({ title }) => title),
      headings,
      opening: leadingComment(text),
      losses: isGuess ? [`The encoding "${encoding}" is a guess; some characters may be wrong`] : [],
    },
    page: (index) => pages[index] ?? { title: "", elements: [] },
  };
}

function toElements(lines: readonly string[], language: string): DocumentElement[] {
  const elements: DocumentElement[] = [];
  const starts: number[] = [];
  for (const [at, line] of lines.entries()) if (DEFINITION.test(line.slice(0, MAX_LINE))) starts.push(at);
  const begins = starts.map((start, index) => withComments(lines, start, (starts[index - 1] ?? -1) + 1));
  elements.push(...pieces(lines.slice(0, begins[0] ?? lines.length), language));
  for (const [index, start] of starts.entries()) {
    elements.push({ category: "heading", content: { level: 2, text: nameOf(lines[start] ?? "") } });
    elements.push(...pieces(lines.slice(begins[index], begins[index + 1] ?? lines.length), language));
  }
  return elements;
}

/** The line at which the comments and decorators of a definition begin. */
function withComments(lines: readonly string[], start: number, least: number): number {
  let begin = start;
  while (begin > least && BEFORE.test(lines[begin - 1] ?? "")) begin--;
  return begin;
}

/** The beginning of a definition in one line: up to its body. */
function nameOf(line: string): string {
  const cut = line.slice(0, 160).replace(/\s*(?:\{|=>|:\s*$| = ).*$/s, "").trim();
  return cut === "" ? line.trim() : cut;
}

function* pieces(lines: readonly string[], language: string): Generator<DocumentElement, void> {
  const code = lines.join("\n").replace(/^\n+|\s+$/g, "");
  for (let start = 0; start < code.length;) {
    const cut = code.length - start <= MAX_CODE ? code.length : code.lastIndexOf("\n", start + MAX_CODE) + 1;
    const end = cut > start ? cut : Math.min(start + MAX_CODE, code.length);
    yield {
      category: "code",
      content: { language, code: code.slice(start, end).replace(/\n$/, "").toWellFormed() },
    };
    start = end;
  }
}

/** The comment at the beginning of the file, which says what it is. */
function leadingComment(text: string): string {
  const lines: string[] = [];
  for (const line of text.split("\n", 60)) {
    if (line.startsWith("#!") || (lines.length === 0 && line.trim() === "")) continue;
    if (!/^\s*(?:\/\/|\/\*|\*|#|--|;|""")/.test(line)) break;
    lines.push(line.replace(/^\s*(?:\/\/+!?|\/\*+|\*+\/?|#+|--|;+|""")\s?/, "").replace(/\s*\*\/$/, ""));
  }
  return lines.join(" ").trim().slice(0, 2_000).toWellFormed();
}
