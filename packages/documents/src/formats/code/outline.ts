/** The top definitions of a file of source code, and the members of its types. */
import type { Language } from "./languages.ts";
import { shorten } from "../../basics.ts";
import { maskedCode, STRING_MASK } from "./masked_code.ts";

/** A definition that is in no other one, or a member of such a type. Positions are those of the text. */
export interface Definition {
  /** Where it begins, with its annotations and the comments above it. */
  readonly from: number;
  /** Where it begins, after its annotations. */
  readonly at: number;
  /** Its beginning in one line, up to its body. */
  readonly title: string;
  readonly isMember?: boolean;
}

/** From so many characters on, the members of a type are told. */
const LONG_TYPE = 4_000;
/** Where members are like top definitions, those that are told with what is before them. */
const VARIABLE = /^(?:\w+(?:\(\w+\))? ){0,8}(?:val|var|let|const(?! fn)|type|typealias) \w/;
/** The most characters of a statement that are looked at. */
const MAX_STATEMENT = 2_000;
const MAX_TITLE = 160;
/** The most characters that a title is made of. */
const MAX_TITLE_SOURCE = 400;
/** What a line above a definition begins with when it belongs to it, besides comments. */
const ANNOTATION = /^\s*(?:@|#?\[)/;

/** The words of a line that chooses between parts of a file. */
const CONDITION = "^[ \\t]*#[ \\t]*(?:if|ifdef|ifndef|else|elif|elseif|endif)\\b";

/** A part of the masked code that is in no brackets but those of containers, and may be a definition. */
interface Statement {
  readonly from: number;
  /** Where it ends, if that is not the end of its line. */
  readonly to?: number;
  /** Its beginning, and the character that ends it. */
  readonly head: string;
}

/** Finds the top definitions and the members of long types, in the order of the file. */
export function outlineOf(text: string, language: Language): Definition[] {
  const file = { text, code: maskedCode(text, language.regions) };
  const top = definitionsIn(file, { from: 0, to: text.length, language });
  return top.flatMap((definition, index) => {
    const { types, member = language.definition } = language;
    const { at } = definition;
    const next = top[index + 1]?.from ?? text.length;
    if (types === undefined || next - at < LONG_TYPE) return [definition];
    const body = bodyOf(file.code, { at, next, language });
    if (!types.test(file.code.slice(at, Math.min(body.from, at + MAX_STATEMENT)))) return [definition];
    const members = definitionsIn(file, { ...body, language: { ...language, definition: member } })
      .filter(({ title }) => member !== language.definition || !VARIABLE.test(title));
    return [definition, ...members.map((each) => ({ ...each, isMember: true }))];
  });
}

/** What is within the first brackets of a definition; where blocks are indented, the lines after its first one. */
function bodyOf(
  code: string,
  { at, next, language }: { readonly at: number; readonly next: number; readonly language: Language },
): { readonly from: number; readonly to: number } {
  const isIndented = language.statements === "indentation";
  const opening = code.indexOf(isIndented ? "\n" : "{", at);
  const from = opening < 0 || opening >= next ? next : opening + 1;
  let depth = isIndented ? Infinity : 1;
  let to = from;
  for (; to < next; to++) {
    if (code[to] === "{") depth++;
    else if (code[to] === "}" && --depth === 0) break;
  }
  return { from, to };
}

/** Finds the definitions in a part of a file that are in no other one there. */
function definitionsIn(
  file: { readonly text: string; readonly code: string },
  { from: start, to: end, language }: {
    readonly from: number;
    readonly to: number;
    readonly language: Language;
  },
): Definition[] {
  const [text, code] = [file.text.slice(start, end), file.code.slice(start, end)];
  const definitions: Definition[] = [];
  let isNamedAfter = false;
  const statements = language.statements === "indentation"
    ? indented(code, language)
    : bracketed(code, language);
  for (const { from, head, to } of statements) {
    const match = language.definition.exec(head);
    const last = definitions.at(-1);
    if (match === null) {
      // The name of a type may follow its body.
      if (isNamedAfter && last !== undefined) {
        definitions[definitions.length - 1] = {
          ...last,
          title: titleOf(`${last.title} ${head.slice(0, MAX_TITLE)}`),
        };
      }
      isNamedAfter = false;
      continue;
    }
    isNamedAfter = /^typedef\b[^]*\{$/.test(head);
    const at = from + match[0].length - (match.groups?.["start"]?.length ?? 0);
    const end = Math.min(to ?? endOfLine(code, from), at + MAX_TITLE_SOURCE);
    const least = last === undefined ? -1 : last.at - start;
    definitions.push({
      from: start + withComments({ text, code, from, least }),
      at: start + at,
      title: titleOf(text.slice(at, end)),
    });
  }
  return definitions;
}

/** Where the annotations and the comments above a statement begin: after the line of `least`, at the earliest. */
function withComments(
  { text, code, from, least }: {
    readonly text: string;
    readonly code: string;
    readonly from: number;
    readonly least: number;
  },
): number {
  let start = from;
  while (start > least + 1 && code[start - 1] !== "\n" && isBlank(code[start - 1])) start--;
  // Another statement ends in the same line.
  if (start > 0 && code[start - 1] !== "\n") return from;
  while (start > 0) {
    const above = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
    const line = code.slice(above, start);
    const isComment = isBlank(line) && !isBlank(text.slice(above, start));
    if (above <= least || !(isComment || ANNOTATION.test(line))) break;
    start = above;
  }
  return start;
}

/** The statements of a language with brackets around its blocks. */
function* bracketed(
  code: string,
  { statements, container }: Language,
): Generator<Statement, void> {
  const tokens = new RegExp(`[{}()[\\];\\n]|${CONDITION}`, "gm");
  const branches: { readonly depth: number; readonly containers: number }[] = [];
  let depth = 0;
  let containers = 0;
  let from = code.search(/\S|$/);
  /** Where the statement begins whose block is read. */
  let opened = -1;
  for (let match; (match = tokens.exec(code)) !== null;) {
    const [token] = match;
    const to = match.index;
    const isTop = depth === containers;
    const begin = () => {
      for (from = to + token.length; /\s/.test(code[from] ?? "");) from++;
      tokens.lastIndex = from;
    };
    const statement = () => ({ from, to, head: headOf(code, from, to) + token });
    switch (token) {
      case "\n":
      case ";":
        if (!isTop || token === "\n" && statements !== "line") break;
        yield statement();
        begin();
        break;
      case "{":
        depth++;
        if (!isTop) break;
        if (container?.test(headOf(code, from, to))) {
          containers++;
          begin();
        } else {
          yield statement();
          opened = from;
        }
        break;
      case "}":
        depth = Math.max(0, depth - 1);
        // Alone in a line that is not indented, it closes whatever a misread string or a condition has left open.
        if (code[to - 1] === "\n" && /[\n\r;]/.test(code[to + 1] ?? "\n")) {
          depth = Math.min(depth, containers);
        }
        containers = Math.min(containers, depth);
        if (depth === containers) begin();
        break;
      case "(":
      case "[":
        depth++;
        break;
      case ")":
      case "]":
        depth = Math.max(containers, depth - 1);
        break;
      default: {
        // Each branch of a condition begins in the same brackets.
        const branch = branches.at(-1);
        if (token.endsWith("endif")) branches.pop();
        else if (!/#\s*el/.test(token)) branches.push({ depth, containers });
        else if (branch !== undefined) ({ depth, containers } = branch);
        const isOtherBeginning = from === opened && depth === containers;
        if (from === to || isOtherBeginning) begin();
      }
    }
  }
  if (from !== opened) yield { from, to: code.length, head: headOf(code, from, code.length) };
}

/** The beginning of a statement, without the conditions of the preprocessor in it. */
function headOf(code: string, from: number, to: number): string {
  return code.slice(from, Math.min(to, from + MAX_STATEMENT))
    .replace(new RegExp(CONDITION, "gm"), (directive) => " ".repeat(directive.length));
}

/** The lines of a language whose blocks are indented that are in no block but those of containers. */
function* indented(code: string, { container }: Language): Generator<Statement, void> {
  const containers: number[] = [];
  let block = Infinity;
  for (let start = 0; start < code.length;) {
    const end = code.indexOf("\n", start) < 0 ? code.length : code.indexOf("\n", start);
    const line = code.slice(start, end);
    const indent = line.search(/\S/);
    // A line that begins with a string, or is in one, begins no definition.
    if (indent >= 0 && indent <= block && line[indent] !== STRING_MASK) {
      while ((containers.at(-1) ?? -1) >= indent) containers.pop();
      const from = start + indent;
      const head = line.slice(indent, indent + MAX_STATEMENT);
      yield { from, head };
      block = container?.test(head) ? Infinity : indent;
      if (block === Infinity) containers.push(indent);
    }
    start = end + 1;
  }
}

/** Where a line ends, with the lines that its brackets go on to. */
function endOfLine(code: string, from: number): number {
  let depth = 0;
  const most = Math.min(from + MAX_TITLE_SOURCE, code.length);
  for (let at = from; at < most; at++) {
    const character = code[at] ?? "";
    if (character === "\n" && depth <= 0) return at;
    if ("([".includes(character)) depth++;
    if (")]".includes(character)) depth--;
  }
  return most;
}

/** The beginning of a definition in one line: up to its body, or to the value of a variable. */
function titleOf(text: string): string {
  const line = text.toWellFormed().replace(/\s+/g, " ").trim();
  const title = line
    .replace(/^((?:\w+ )*(?:const|let|var|val|static|type|using|typealias)\b[^(=]*?) ?=.*$/, "$1")
    .replace(/ ?(?:\{.*|=>.*|\bas [$'].*|:$|;$|=$)/i, "").replace(/ =$/, "");
  return shorten((title === "" ? line : title).trim(), MAX_TITLE);
}

function isBlank(line = ""): boolean {
  return line.trim() === "";
}
