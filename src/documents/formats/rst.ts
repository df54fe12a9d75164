/** reStructuredText: titles, lists, tables and directives. */
import type { ListContent, ListItem } from "../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../provider/documents/source.ts";
import { dedent, indentedLines, indentOf, MAX_COLUMNS, MAX_DEPTH, readList, tableOf } from "./markup.ts";
import { raiseText } from "./raised_text.ts";

const BORDER = /^([!-/:-@[-`{-~])\1+\s*$/;
const GRID = /^\+[-=+]+\+\s*$/;
const COLUMNS = /^=+(?: +=+)+\s*$/;
const ITEM = /^ *(?:[-*+•‣]|(\(?(?:\d{1,9}|#|[a-z])\)|(?:\d{1,9}|#)\.))(?: +|$)/;
const FIELD = /^:([^:\s`][^:`]*):(?:\s+(.*))?$/;
const DIRECTIVE = /^\.\. +(?:\|[^|]+\| +)?([\w.:+-]+?):: ?(.*)$/;
const CODE =
  /^(?:code|code-block|sourcecode|parsed-literal|prompt|doctest|testcode|testoutput|ipython|highlight-block)$/;
/** Directives that only set something. */
const SETTING = /^(?:contents|highlight|index|role|default-role|meta|currentmodule|sectnum)$/;
/** Directives whose content is that of the document. */
const CONTAINER =
  /^(?:note|warning|tip|hint|important|caution|danger|attention|error|admonition|seealso|todo|versionadded|versionchanged|deprecated|topic|sidebar|rubric|container|class|epigraph|highlights|pull-quote|compound|figure|table|only|glossary|tab|tabs|dropdown|centered)$/;

/** The elements of a text. */
export function readRst(text: string): Generator<DocumentElement, void> {
  return new RstReader().blocks(text.replaceAll("\t", "        ").split("\n"), 0);
}

class RstReader {
  /** What marks titles, in the order of their levels. */
  readonly #marks: string[] = [];
  /** Lines in which no table ends any more. */
  readonly #withoutEnd = new WeakSet<readonly string[]>();

  readonly blocks = function* (
    this: RstReader,
    lines: readonly string[],
    depth: number,
  ): Generator<DocumentElement, void> {
    if (depth > MAX_DEPTH) return yield { category: "code", content: { code: lines.join("\n") } };
    for (let at = 0; at < lines.length;) {
      if ((lines[at] ?? "").trim() === "") {
        at++;
        continue;
      }
      const read = this.#table(lines, at) ?? this.#title(lines, at) ?? this.#explicit(lines, at, depth) ??
        (ITEM.test(lines[at] ?? "")
          ? readList(lines, at, { marker: ITEM, read: this.blocks, depth })
          : undefined) ??
        this.#paragraph(lines, at, depth);
      yield* read.elements;
      at = read.end;
    }
  }.bind(this);

  #title(lines: readonly string[], at: number): Part | undefined {
    const over = BORDER.exec(lines[at] ?? "");
    const text = (over === null ? lines[at] : lines[at + 1])?.trim() ?? "";
    const under = lines[at + (over === null ? 1 : 2)] ?? "";
    const mark = BORDER.exec(under)?.[1];
    const isLong = under.trim().length >= Math.min(text.length, 4) && under.trim().length * 2 >= text.length;
    if (
      mark !== undefined && isLong && text !== "" &&
      (over === null ? !/^\s|^\.\. /.test(lines[at] ?? "") : over[1] === mark) && !BORDER.test(text)
    ) {
      const kind = `${over === null ? "" : "over"}${mark}`;
      if (!this.#marks.includes(kind)) this.#marks.push(kind);
      const level = Math.min(this.#marks.indexOf(kind) + 1, 6);
      return part(
        [{ category: "heading", content: { level, text: inline(text) } }],
        at + (over === null ? 2 : 3),
      );
    }
    const isAlone = over !== null && (over[0]?.trim().length ?? 0) > 3;
    return isAlone ? part([{ category: "separator", content: { style: "line" } }], at + 1) : undefined;
  }

  #table(lines: readonly string[], at: number): Part | undefined {
    const line = lines[at] ?? "";
    const isGrid = GRID.test(line.trim());
    if (!isGrid && (!COLUMNS.test(line.trim()) || this.#withoutEnd.has(lines))) return undefined;
    const indent = indentOf(line);
    let end = at + 1;
    if (isGrid) { while (/^[+|]/.test((lines[end] ?? "").slice(indent))) end++; }
    else {
      const isBorder = (row = "") => /^=[= ]*$/.test(row.slice(indent).trimEnd()) && row.trim() !== "";
      // A border without a line below it is the last one.
      while (end < lines.length && !(isBorder(lines[end]) && (lines[end + 1] ?? "").trim() === "")) end++;
      if (end++ >= lines.length) {
        this.#withoutEnd.add(lines);
        return undefined;
      }
    }
    const rows = lines.slice(at, end).map((row) => row.slice(indent).trimEnd());
    const table = isGrid ? gridTable(rows) : simpleTable(rows);
    return part([table ?? { category: "code", content: { code: rows.join("\n") } }], end);
  }

  /** Directives, targets of links, notes and comments. */
  #explicit(lines: readonly string[], at: number, depth: number): Part | undefined {
    const line = lines[at] ?? "";
    if (!/^\.\.(?: |$)/.test(line)) return undefined;
    const body = indentedLines(lines, at + 1, 1);
    const end = at + 1 + body.length;
    const [, name, argument = ""] = DIRECTIVE.exec(line) ?? [];
    if (name !== undefined) return part([...this.#directive({ name, argument, body, line }, depth)], end);
    const [, text, url] = /^\.\. +_`?([^`:]+)`?: +(\S+)$/.exec(line) ?? [];
    if (text !== undefined && url !== undefined && /^\w+:/.test(url)) {
      return part([{ category: "link", content: { text, url } }], end);
    }
    if (/^\.\. +_/.test(line)) return part([], end);
    const note = /^\.\. +(\[[^\]]+\].*)$/.exec(line)?.[1];
    if (note !== undefined) {
      return part([textElement([note, ...body].map((each) => each.trim()).join("\n"))], end);
    }
    return part([{ category: "code", content: { language: "rst", code: [line, ...body].join("\n") } }], end);
  }

  *#directive(
    { name, argument, body, line }: { name: string; argument: string; body: readonly string[]; line: string },
    depth: number,
  ): Generator<DocumentElement, void> {
    const inner = dedent(body);
    let start = 0;
    const options = new Map<string, string>();
    for (; FIELD.test(inner[start] ?? ""); start++) {
      const [, key = "", value = ""] = FIELD.exec(inner[start] ?? "") ?? [];
      options.set(key, value);
    }
    const content = inner.slice(start);
    const code = content.join("\n").trim();
    const caption = options.get("caption");
    if (caption !== undefined && caption !== "") yield textElement(caption);
    if (CODE.test(name)) {
      yield {
        category: "code",
        content: {
          ...(argument === "" ? {} : { language: argument }),
          code: content.join("\n").replace(/^\n+/, ""),
        },
      };
    } else if (name === "math") {
      yield {
        category: "formula",
        content: { expression: [argument, code].filter((each) => each !== "").join("\n") },
      };
    } else if (name === "image" || name === "figure") {
      yield { category: "image", content: { description: options.get("alt") ?? "", url: argument } };
      yield* this.blocks(content, depth + 1);
    } else if (name === "list-table") {
      if (argument !== "") yield textElement(argument);
      for (const element of this.blocks(content, depth + 1)) {
        yield element.category === "list"
          ? listTable(element.content, Number(options.get("header-rows") ?? 0))
          : element;
      }
    } else if (name === "toctree") {
      const items = content.map((entry) => entry.trim()).filter((entry) => entry !== "");
      if (items.length > 0) yield { category: "list", content: { items } };
    } else if (CONTAINER.test(name)) {
      const isTitled =
        /^(?:table|topic|sidebar|rubric|admonition|centered|tab|dropdown|versionadded|versionchanged|deprecated)$/
          .test(name);
      const isQuiet = /^(?:container|class|only|tabs|glossary|compound)$/.test(name);
      const title = isQuiet ? "" : /^(?:v|dep)/.test(name) ? `${name} ${argument}` : isTitled ? argument : "";
      if (title !== "") yield textElement(title);
      let label = isTitled || isQuiet ? "" : `${name.charAt(0).toUpperCase()}${name.slice(1)}: `;
      for (const element of this.blocks(isTitled || isQuiet ? content : [argument, ...content], depth + 1)) {
        if (label === "" || element.category !== "text") yield element;
        else yield { ...element, content: { text: `${label}${element.content.text}` } };
        label = "";
      }
    } else if (!SETTING.test(name)) {
      yield { category: "code", content: { language: "rst", code: [line, ...body].join("\n") } };
    }
  }

  /** A paragraph and the code that it announces, a term with its definition, fields, or what is indented. */
  #paragraph(lines: readonly string[], at: number, depth: number): Part {
    const indent = indentOf(lines[at] ?? "");
    if (indent > 0) {
      const quoted = indentedLines(lines, at, 1);
      return part([...this.blocks(dedent(quoted), depth + 1)], at + quoted.length);
    }
    let end = at;
    const words: string[] = [];
    for (; end < lines.length && (lines[end] ?? "").trim() !== ""; end++) {
      const line = lines[end] ?? "";
      const [, name, value = ""] = FIELD.exec(line) ?? [];
      if (words.length === 1 && indentOf(line) > 0 && !FIELD.test(lines[at] ?? "")) {
        const meaning = indentedLines(lines, end, 1);
        return part(
          [textElement(words.join("\n")), ...this.blocks(dedent(meaning), depth + 1)],
          end + meaning.length,
        );
      }
      words.push(name === undefined ? line.trim().replace(/^\| ?/, "") : `${name}: ${value}`);
    }
    const text = words.join("\n");
    if (text.startsWith(">>> ")) {
      return part([{ category: "code", content: { language: "python", code: text } }], end);
    }
    if (!text.endsWith("::")) return part([textElement(text)], end);
    const code = indentedLines(lines, end, 1);
    const announcement = text.slice(0, -2);
    const before = announcement.trimEnd() === announcement && announcement !== ""
      ? `${announcement}:`
      : announcement.trimEnd();
    return part([
      ...before === "" ? [] : [textElement(before)],
      ...code.length === 0
        ? []
        : [{ category: "code" as const, content: { code: dedent(code).join("\n").replace(/^\n+/, "") } }],
    ], end + code.length);
  }
}

interface Part {
  readonly elements: readonly DocumentElement[];
  /** The line after it. */
  readonly end: number;
}

function part(elements: readonly DocumentElement[], end: number): Part {
  return { elements, end };
}

function textElement(text: string): DocumentElement {
  return { category: "text", content: { text: inline(text) } };
}

/** A table whose columns are those of its border of equal signs. */
function simpleTable(lines: readonly string[]): DocumentElement | undefined {
  const starts = [...(lines[0] ?? "").matchAll(/=+/g).map(({ index }) => index)];
  if (starts.length > MAX_COLUMNS) return undefined;
  const rows: string[][] = [];
  let headers = 0;
  for (const [index, line] of lines.entries()) {
    if (/^=[= ]*$/.test(line)) {
      if (index > 0 && index < lines.length - 1) headers = rows.length;
    } else if (line.trim() !== "" && !/^-[- ]*$/.test(line)) {
      // Text across the edge of a column covers both.
      const edges = starts.map((start) => start === 0 || (line[start - 1] ?? " ") === " ");
      const cells = starts.map((start, column) => {
        if (edges[column] === false) return "";
        const next = edges.findIndex((isEdge, other) => other > column && isEdge);
        return line.slice(start, next < 0 ? undefined : starts[next]).trim();
      });
      const above = rows.at(-1);
      // A row without a first cell continues the one above.
      if (cells[0] !== "" || above === undefined || rows.length === headers) rows.push(cells.map(inline));
      else {for (const [column, cell] of cells.entries()) {
          above[column] = `${above[column]}\n${inline(cell)}`.trim();
        }}
    }
  }
  return tableOf(rows, headers);
}

/** A table that is drawn; a cell may cover several columns and rows. */
function gridTable(lines: readonly string[]): DocumentElement | undefined {
  const places = new Set(
    lines.flatMap((line) => /^\+/.test(line) ? [...line.matchAll(/\+/g).map(({ index }) => index)] : []),
  );
  const edges = [...places].sort((a, b) => a - b);
  if (edges.length > MAX_COLUMNS) return undefined;
  const rows: (string | null)[][] = [];
  // The row that each column is in now.
  const current = edges.slice(1).map(() => -1);
  let headers = 0;
  for (const [index, line] of lines.entries()) {
    const isBorder = edges.slice(1).map((edge, column) =>
      /^[-=+]+$/.test(line.slice((edges[column] ?? 0) + 1, edge))
    );
    if (isBorder.includes(true) && index < lines.length - 1) {
      if (/^\+=[=+]*\+$/.test(line)) headers = rows.length;
      for (const [column, border] of isBorder.entries()) if (border) current[column] = rows.length;
      rows.push(current.map(() => null));
    }
    let cell = 0;
    for (const [column, border] of isBorder.entries()) {
      const [left = 0, right = 0] = [edges[column], edges[column + 1]];
      // Without a line at its left, the text belongs to the cell before.
      if (/[|+]/.test(line[left] ?? "")) cell = column;
      const row = rows[current[cell] ?? -1];
      if (border || row === undefined) continue;
      const words = line.slice(cell === column ? left + 1 : left, right);
      row[cell] = cell === column ? `${row[cell] ?? ""}\n${words}` : `${row[cell] ?? ""}${words}`;
    }
  }
  const texts = rows.map((row) =>
    row.map((cell) =>
      cell === null ? null : inline(cell.split("\n").map((each) => each.trim()).filter(Boolean).join("\n"))
    )
  );
  return tableOf(texts, headers);
}

/** A table that is written as a list of lists. */
function listTable({ items }: ListContent, headers: number): DocumentElement {
  const textOf = (item: ListItem): string =>
    typeof item === "string" ? item : [item.text, ...(item.items ?? []).map(textOf)].join("\n").trim();
  return tableOf(
    items.map((item) => typeof item === "string" ? [item] : (item.items ?? []).map(textOf)),
    headers,
  );
}

/** Inline markup as Markdown has it. */
function inline(text: string): string {
  return text.replace(/``([^`]+)``/g, "`$1`")
    .replace(
      /:(sup|superscript|sub|subscript):`([^`]+)`/g,
      (_, role: string, inner: string) => raiseText(inner, role.startsWith("sup") ? "raised" : "lowered"),
    )
    .replace(/`([^`<]+)<([^`<>]+)>`__?/g, (_, words: string, url: string) => `[${words.trim()}](${url})`)
    .replace(
      /:[\w:.+-]{1,60}:`([^`]+)`|(?<![`\w])`([^`]+)`__?/g,
      (_, role?: string, name?: string) => role ?? name ?? "",
    )
    .replace(/\\ /g, "");
}
