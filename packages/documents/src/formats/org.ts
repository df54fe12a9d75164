/** Org, the markup of Emacs: headings, lists, tables, blocks and properties. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { codeOf, MAX_DEPTH, readList, textOf } from "./markup.ts";
import { tableOf } from "./sections.ts";

const HEADING = /^(\*+)[ \t]+(\S.*)$/;
const ITEM = /^[ \t]*(?:[-+]|(?<=[ \t])\*|(\d{1,9}[.)]))(?:[ \t]+|$)/;
/** Within items, whose indentation is taken away, a star begins no heading. */
const INNER_ITEM = /^[ \t]*(?:[-+*]|(\d{1,9}[.)]))(?:[ \t]+|$)/;
const BLOCK = /^[ \t]*#\+begin_(\w+)(?:[ \t]+(\S+))?/i;
const DRAWER = /^[ \t]*:([\w-]+):[ \t]*$/;
const ROW = /^[ \t]*\|/;
const FIXED = /^[ \t]*:(?: |$)/;
/** Comments, and what is said of the file or of what follows. */
const SETTING = /^[ \t]*#(?:[ \t]|$|\+(?!title:|caption:|begin_)\w+:)/i;
/** A line that continues a paragraph. */
const TEXT =
  /^(?![ \t]*(?:$|\||:[\w-]*:?(?:[ \t]|$)|#[ \t+]|#$|[-+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))|\*+[ \t]|[ \t]+\*[ \t]|-{5,}[ \t]*$)/;

/** The elements of a text. The title of the file is its first heading, above all others. */
export function* readOrg(text: string): Generator<DocumentElement, void> {
  const title = /^#\+title:[ \t]*(\S.*)$/im.exec(text)?.[1];
  if (title !== undefined) yield { category: "heading", content: { level: 1, text: inline(title) } };
  yield* blocks(text.split("\n"), 0, title === undefined ? 0 : 1);
}

function* blocks(lines: readonly string[], depth: number, above = 0): Generator<DocumentElement, void> {
  if (depth > MAX_DEPTH) return yield codeOf(lines.join("\n"));
  const [heading, marker] = depth === 0 ? [HEADING, ITEM] as const : [/(?!)/, INNER_ITEM] as const;
  const ends = endsOf(lines, heading);
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const run = (kind: RegExp) => {
      const start = at;
      while (kind.test(lines[at] ?? "")) at++;
      return lines.slice(start, at);
    };
    const [, stars, title = ""] = heading.exec(line) ?? [];
    const end = ends.get(at);
    if (line.trim() === "") at++;
    else if (stars !== undefined) {
      yield {
        category: "heading",
        content: { level: Math.min(stars.length + above, 6), text: inline(title) },
      };
      at++;
    } else if (end !== undefined) {
      yield* block(line, lines.slice(at + 1, end), depth);
      at = end + 1;
    } else if (ROW.test(line)) {
      const rows = run(ROW);
      const border = rows.findIndex((row) => /^[ \t]*\|-/.test(row));
      const cells = rows.filter((row) => !/^[ \t]*\|-/.test(row)).map((row) =>
        row.trim().replace(/^\||\|$/g, "").split("|").map((cell) => inline(cell.trim()))
      );
      yield tableOf(cells, border > 0 && border < cells.length ? border : 0);
    } else if (FIXED.test(line)) {
      yield codeOf(run(FIXED).map((each) => each.replace(/^[ \t]*: ?/, "")).join("\n"));
    } else if (/^[ \t]*#\+title:/i.test(line)) at++;
    else if (/^[ \t]*#\+caption:/i.test(line)) {
      yield textOf(inline(lines[at++]?.replace(/^[^:]*:/, "").trim() ?? ""));
    } else if (SETTING.test(line)) yield codeOf(run(SETTING).join("\n"), "org");
    else if (/^-{5,}[ \t]*$/.test(line)) {
      yield { category: "separator", content: { style: "line" } };
      at++;
    } else if (marker.test(line)) {
      const list = readList(lines, at, { marker, read: blocks, depth });
      yield* list.elements;
      at = list.end;
    } else {
      at++;
      yield textOf([line, ...run(TEXT)].map((each) => inline(each.trim())).join("\n"));
    }
  }
}

/** A block or a drawer, by its first line. */
function* block(line: string, inner: readonly string[], depth: number): Generator<DocumentElement, void> {
  const [, name = "", language] = BLOCK.exec(line) ?? [];
  if (name === "") yield codeOf(inner.join("\n").trim(), "org");
  else if (/^(?:src|example|export)$/i.test(name)) {
    yield codeOf(inner.map((each) => each.replace(/^,(?=[*#])/, "")).join("\n"), language);
  } else {
    for (const element of blocks(inner, depth + 1)) {
      const isQuote = /^quote$/i.test(name) && element.category === "text";
      yield isQuote ? textOf(element.content.text.replace(/^/gm, "> ")) : element;
    }
  }
}

/** Where each block and drawer ends, by the line where it begins. */
function endsOf(lines: readonly string[], heading: RegExp): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const next = new Map<string, number>();
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? "";
    const end = /^[ \t]*(?:#\+(end_\w+)|:(end):)[ \t]*$/i.exec(line);
    if (end !== null) next.set((end[1] ?? end[2] ?? "").toLowerCase(), at);
    else if (heading.test(line)) next.clear();
    else {
      const begin = BLOCK.exec(line)?.[1];
      const found = next.get(begin === undefined ? "end" : `end_${begin.toLowerCase()}`);
      if (found !== undefined && (begin !== undefined || DRAWER.test(line))) ends.set(at, found);
    }
  }
  return ends;
}

/** Links as Markdown has them. */
function inline(text: string): string {
  return text.replace(
    /\[\[([^\][]+)\](?:\[([^\][]+)\])?\]/g,
    (_, url: string, words?: string) => words === undefined ? url : `[${words}](${url})`,
  );
}
