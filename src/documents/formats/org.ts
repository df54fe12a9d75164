/** Org, the markup of Emacs: headings, lists, tables, blocks and properties. */
import type { DocumentElement } from "../../provider/documents/source.ts";
import { MAX_DEPTH, readList, tableOf } from "./markup.ts";

const HEADING = /^(\*+)[ \t]+(\S.*)$/;
const ITEM = /^[ \t]*(?:[-+]|(?<=[ \t])\*|(\d{1,9})[.)])(?:[ \t]+|$)/;
const BLOCK = /^[ \t]*#\+begin_(\w+)(?:[ \t]+(\S+))?/i;
const DRAWER = /^[ \t]*:([\w-]+):[ \t]*$/;
const KEYWORD = /^[ \t]*#\+(\w+):[ \t]*(.*)$/;
const LINE = /^[ \t]*(?:\||: |:$)|^[ \t]*#(?:[ \t]|$)|^-{5,}[ \t]*$/;

/** The elements of a text. The title of the file is its first heading, above all others. */
export function* readOrg(text: string): Generator<DocumentElement, void> {
  const title = /^#\+title:[ \t]*(\S.*)$/im.exec(text)?.[1];
  if (title !== undefined) yield { category: "heading", content: { level: 1, text: inline(title) } };
  yield* blocks(text.split("\n"), 0, title === undefined ? 0 : 1);
}

function* blocks(lines: readonly string[], depth: number, above = 0): Generator<DocumentElement, void> {
  if (depth > MAX_DEPTH) return yield { category: "code", content: { code: lines.join("\n") } };
  const ends = endsOf(lines);
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const run = (holds: (line: string) => boolean) => {
      const start = at;
      while (at < lines.length && holds(lines[at] ?? "")) at++;
      return lines.slice(start, at);
    };
    const heading = HEADING.exec(line);
    const [, block = "", language] = BLOCK.exec(line) ?? [];
    const drawer = DRAWER.exec(line)?.[1];
    const end = ends.get(at);
    if (line.trim() === "") at++;
    else if (heading !== null) {
      at++;
      const level = Math.min((heading[1]?.length ?? 1) + above, 6);
      yield { category: "heading", content: { level, text: inline(heading[2] ?? "") } };
    } else if (end !== undefined && (block !== "" || drawer !== undefined)) {
      const inner = lines.slice(at + 1, end);
      at = end + 1;
      if (drawer !== undefined) {
        yield { category: "code", content: { language: "org", code: inner.join("\n").trim() } };
      } else if (/^(?:src|example|export)$/i.test(block)) {
        const code = inner.map((line) => line.replace(/^,(?=[*#])/, "")).join("\n");
        yield { category: "code", content: { ...(language === undefined ? {} : { language }), code } };
      } else if (/^quote$/i.test(block)) {
        for (const element of blocks(inner, depth + 1)) {
          yield element.category === "text"
            ? { ...element, content: { text: element.content.text.replace(/^/gm, "> ") } }
            : element;
        }
      } else yield* blocks(inner, depth + 1);
    } else if (/^[ \t]*\|/.test(line)) {
      const rows = run((line) => /^[ \t]*\|/.test(line));
      const border = rows.findIndex((row) => /^[ \t]*\|-/.test(row));
      const cells = rows.filter((row) => !/^[ \t]*\|-/.test(row)).map((row) =>
        row.trim().replace(/^\||\|$/g, "").split("|").map((cell) => inline(cell.trim()))
      );
      yield tableOf(cells, border > 0 && border < cells.length ? border : 0);
    } else if (KEYWORD.test(line)) {
      const keywords = run((line) => KEYWORD.test(line)).filter((line) => !/^[ \t]*#\+title:/i.test(line));
      const captions = keywords.flatMap((line) => /^[ \t]*#\+caption:[ \t]*(\S.*)$/i.exec(line)?.[1] ?? []);
      const others = keywords.filter((line) => !/^[ \t]*#\+caption:/i.test(line));
      if (others.length > 0) {
        yield { category: "code", content: { language: "org", code: others.join("\n") } };
      }
      for (const caption of captions) yield { category: "text", content: { text: inline(caption) } };
    } else if (/^[ \t]*:(?: |$)/.test(line)) {
      const code = run((line) => /^[ \t]*:(?: |$)/.test(line)).map((line) => line.replace(/^[ \t]*: ?/, ""));
      yield { category: "code", content: { code: code.join("\n") } };
    } else if (/^[ \t]*#(?:[ \t]|$)/.test(line)) {
      const code = run((line) => /^[ \t]*#(?:[ \t]|$)/.test(line));
      yield { category: "code", content: { language: "org", code: code.join("\n") } };
    } else if (/^-{5,}[ \t]*$/.test(line)) {
      at++;
      yield { category: "separator", content: { style: "line" } };
    } else {
      const list = ITEM.test(line) ? readList(lines, at, { marker: ITEM, read: blocks, depth }) : undefined;
      if (list !== undefined) {
        yield* list.elements;
        at = list.end;
        continue;
      }
      at++;
      const others = run((line) =>
        line.trim() !== "" && ![HEADING, ITEM, BLOCK, DRAWER, KEYWORD, LINE].some((each) => each.test(line))
      );
      yield {
        category: "text",
        content: { text: [line, ...others].map((each) => inline(each.trim())).join("\n") },
      };
    }
  }
}

/** Where each block and drawer ends, by the line where it begins. */
function endsOf(lines: readonly string[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const next = new Map<string, number>();
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? "";
    const end = /^[ \t]*(?:#\+(end_\w+)|:(end):)[ \t]*$/i.exec(line);
    if (end !== null) next.set((end[1] ?? end[2] ?? "").toLowerCase(), at);
    else if (HEADING.test(line)) next.clear();
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
