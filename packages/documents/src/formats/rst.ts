/** reStructuredText: titles, lists, tables and directives. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import {
  codeOf,
  dedent,
  drawnTable,
  indentedLines,
  indentOf,
  MAX_DEPTH,
  readList,
  ruledTable,
  textOf,
} from "./markup.ts";
import { raiseText } from "./raised_text.ts";
import { tableOf } from "./sections.ts";

const BORDER = /^([!-/:-@[-`{-~])\1+\s*$/;
const ITEM = /^ *(?:[-*+•‣]|(\(?(?:\d{1,9}|#|[a-z]|[ivx]{1,5}|[A-Z])\)|(?:\d{1,9}|#)\.))(?: +|$)/;
const FIELD = /^:([^:\s`][^:`]*):(?:\s+(.*))?$/;
const DIRECTIVE = /^\.\. +(?:\|[^|]+\| +)?([\w.:+-]+?):: ?(.*)$/;
const CODE = /^(?:code|code-block|sourcecode|parsed-literal|prompt|doctest|testcode|testoutput|ipython)$/;
/** Directives that only set something. */
const SETTING = /^(?:contents|highlight|index|role|default-role|meta|currentmodule|sectnum)$/;
/** Directives whose content is that of the document. */
const CONTAINER =
  /^(?:note|warning|tip|hint|important|caution|danger|attention|error|admonition|seealso|todo|version\w+|deprecated|topic|sidebar|rubric|container|class|epigraph|highlights|pull-quote|compound|table|only|glossary|tab|tabs|dropdown|centered)$/;

export function readRst(text: string): Generator<DocumentElement, void> {
  return new RstReader().blocks(text.replaceAll("\t", "        ").split("\n"), 0);
}

class RstReader {
  /** What marks titles, in the order of their levels. */
  readonly #marks: string[] = [];
  /** Lines in which no table ends any more. */
  readonly #withoutEnd = new WeakSet<readonly string[]>();

  *blocks(lines: readonly string[], depth: number): Generator<DocumentElement, void> {
    if (depth > MAX_DEPTH) return yield codeOf(lines.join("\n"));
    const read = (inner: readonly string[], innerDepth: number) => this.blocks(inner, innerDepth);
    for (let at = 0; at < lines.length;) {
      const line = lines[at] ?? "";
      const tableEnd = this.#tableEnd(lines, at);
      const titleLines = this.#titleLines(lines, at);
      const isOver = titleLines === 3;
      if (line.trim() === "") at++;
      else if (tableEnd !== undefined) {
        const rows = lines.slice(at, tableEnd).map((row) => row.slice(indentOf(line)).trimEnd());
        yield (rows[0]?.startsWith("+") ? drawnTable : ruledTable)(rows, inline) ?? codeOf(rows.join("\n"));
        at = tableEnd;
      } else if (titleLines > 0) {
        const text = lines[isOver ? at + 1 : at]?.trim() ?? "";
        const level = this.#levelOf(`${titleLines}${lines[at + titleLines - 1]?.[0]}`);
        yield { category: "heading", content: { level, text: inline(text) } };
        at += titleLines;
      } else if (/^([!-/:-@[-`{-~])\1{3,}\s*$/.test(line)) {
        yield { category: "separator", content: { style: "line" } };
        at++;
      } else if (/^\.\.(?: |$)/.test(line)) {
        const body = indentedLines(lines, at + 1, 1);
        yield* this.#explicit(line, body, depth);
        at += 1 + body.length;
      } else if (ITEM.test(line)) {
        const { elements, end } = readList(lines, at, { marker: ITEM, read, depth });
        yield* elements;
        at = end;
      } else if (indentOf(line) > 0) {
        const quoted = indentedLines(lines, at, 1);
        yield* this.blocks(dedent(quoted), depth + 1);
        at += quoted.length;
      } else at = yield* this.#paragraph(lines, at, depth);
    }
  }

  #levelOf(mark: string): number {
    if (!this.#marks.includes(mark)) this.#marks.push(mark);
    return Math.min(this.#marks.indexOf(mark) + 1, 6);
  }

  /** How many lines a title has that begins here: with a line above it, or only one below; else 0. */
  #titleLines(lines: readonly string[], at: number): number {
    const over = BORDER.exec(lines[at] ?? "");
    const text = (over === null ? lines[at] : lines[at + 1]) ?? "";
    const count = over === null ? 2 : 3;
    const under = BORDER.exec(lines[at + count - 1] ?? "");
    const [length, border] = [text.trim().length, under?.[0].trim().length ?? 0];
    const isTitle = length > 0 && border >= Math.min(length, 4) && border * 2 >= length && !BORDER.test(text);
    return isTitle && (over === null ? !/^\s|^\.\. /.test(text) : over[1] === under?.[1]) ? count : 0;
  }

  /** The line after the table that begins here. */
  #tableEnd(lines: readonly string[], at: number): number | undefined {
    const line = lines[at] ?? "";
    const inner = (row = "") => row.slice(indentOf(line)).trimEnd();
    if (/^ *\+[-=+]+\+\s*$/.test(line)) {
      let end = at + 1;
      while (/^[+|]/.test(inner(lines[end]))) end++;
      return end;
    }
    if (!/^ *=+(?: +=+)+\s*$/.test(line) || this.#withoutEnd.has(lines)) return undefined;
    // A border without a line below it is the last one.
    for (let end = at + 1; end < lines.length; end++) {
      if (/^=[= ]*$/.test(inner(lines[end])) && (lines[end + 1] ?? "").trim() === "") return end + 1;
    }
    this.#withoutEnd.add(lines);
    return undefined;
  }

  /** Directives, targets of links, notes and comments. */
  *#explicit(line: string, body: readonly string[], depth: number): Generator<DocumentElement, void> {
    const [, name, argument = ""] = DIRECTIVE.exec(line) ?? [];
    const [, text = "", url = ""] = /^\.\. +_`?([^`:]+)`?: +(\w+:\S+)$/.exec(line) ?? [];
    const note = /^\.\. +(\[[^\]]+\].*)$/.exec(line)?.[1];
    if (name !== undefined) yield* this.#directive({ name, argument, line, body }, depth);
    else if (url !== "") yield { category: "link", content: { text, url } };
    else if (note !== undefined) yield textOf(inline([note, ...body].map((each) => each.trim()).join("\n")));
    else if (!/^\.\. +_/.test(line)) yield codeOf([line, ...body].join("\n"), "rst");
  }

  *#directive(
    { name, argument, line, body }: { name: string; argument: string; line: string; body: readonly string[] },
    depth: number,
  ): Generator<DocumentElement, void> {
    const inner = dedent(body);
    const start = inner.findIndex((each) => !FIELD.test(each));
    const fields = inner.slice(0, start < 0 ? undefined : start);
    const options = new Map(fields.map((each) => (FIELD.exec(each) ?? []).slice(1, 3) as [string, string]));
    const content = inner.slice(fields.length);
    const caption = options.get("caption") ?? "";
    if (caption !== "") yield textOf(inline(caption));
    if (CODE.test(name)) yield codeOf(content.join("\n").replace(/^\n+/, ""), argument);
    else if (name === "math") {
      yield { category: "formula", content: { expression: `${argument}\n${content.join("\n")}`.trim() } };
    } else if (name === "image" || name === "figure") {
      yield { category: "image", content: { description: options.get("alt") ?? "", url: argument } };
      yield* this.blocks(content, depth + 1);
    } else if (name === "list-table") {
      if (argument !== "") yield textOf(inline(argument));
      for (const element of this.blocks(content, depth + 1)) {
        yield element.category === "list"
          ? tableOf(
            element.content.items.map((row) =>
              typeof row === "string" ? [row] : (row.items ?? []).map(itemText)
            ),
            Number(options.get("header-rows") ?? 0),
          )
          : element;
      }
    } else if (CONTAINER.test(name)) {
      const label = `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${argument}`.trim();
      yield* this.blocks(label === "Table:" ? content : [label, ...content], depth + 1);
    } else if (!SETTING.test(name)) yield codeOf([line, ...body].join("\n"), "rst");
  }

  /** A paragraph and the code that it announces, or a term with its definition; returns the line after it. */
  *#paragraph(lines: readonly string[], at: number, depth: number): Generator<DocumentElement, number> {
    const words: string[] = [];
    let end = at;
    for (; (lines[end] ?? "").trim() !== ""; end++) {
      const line = lines[end] ?? "";
      const isDefinition = end === at + 1 && indentOf(line) > 0 && !FIELD.test(lines[at] ?? "");
      if (isDefinition) break;
      words.push(line.trim().replace(FIELD, "$1: $2").replace(/^\| ?/, ""));
    }
    const text = words.join("\n");
    const below = indentedLines(lines, end, 1);
    if (text.startsWith(">>> ")) yield codeOf(text, "python");
    else if (text.endsWith("::")) {
      const before = text.slice(0, -2);
      if (before.trim() !== "") yield textOf(inline(/\s$/.test(before) ? before.trimEnd() : `${before}:`));
      if (below.length > 0) yield codeOf(dedent(below).join("\n").replace(/^\n+/, ""));
      return end + below.length;
    } else yield textOf(inline(text));
    if ((lines[end] ?? "").trim() === "") return end;
    yield* this.blocks(dedent(below), depth + 1);
    return end + below.length;
  }
}

function itemText(item: string | { readonly text: string; readonly items?: readonly unknown[] }): string {
  return typeof item === "string" ? item : item.text;
}

/** Inline markup as Markdown has it. */
function inline(text: string): string {
  return text.replace(/``([^`]+)``/g, "`$1`")
    .replace(
      /:([\w:.+-]{1,60}):`([^`]+)`/g,
      (_, role: string, inner: string) =>
        /^su[bp]/.test(role)
          ? raiseText(inner, role.startsWith("sup") ? "raised" : "lowered")
          : inner.replace(/ <[^<>]*>$/, ""),
    )
    .replace(/`([^`<]+)<([^`<>]+)>`__?/g, (_, words: string, url: string) => `[${words.trim()}](${url})`)
    .replace(/(?<![`\w])`([^`]+)`__?/g, "$1")
    .replace(/\\ /g, "");
}
