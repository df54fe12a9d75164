/** Headings, paragraphs, lists and tables of a page that does not say where they are, by the look of its lines. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { edgesOf, hasLeader, joinLines, type Line, textOf } from "./lines.ts";
import { isItem, leavesItem, withLists } from "./list_items.ts";
import { findTables, type UnruledTable } from "./tables/unruled.ts";

/** How the running text of a document looks. */
export interface BodyLook {
  /** The height of its letters, in points. */
  readonly size: number;
  /** The sizes of headings, the largest first. */
  readonly headings: readonly number[];
  /** Whether a font is bold, by its name on the page. */
  readonly isBold: (font: string) => boolean;
}

/** Bold fonts by what their names say; in those of TeX, `BX` is bold. */
const BOLD = /bold|black|heavy|demi\b|medi\b|-medi|(?:cm|ec|sf)(?:ss)?bx/i;
/** The most characters of a heading. */
const MAX_HEADING = 200;
/** How much larger than the running text a heading is. */
const HEADING_SCALE = 1.12;
/** The distance of lines, in heights of letters, from which on a paragraph, a heading and a title end. */
const [PARAGRAPH_GAP, HEADING_GAP, TITLE_GAP] = [1.75, 1.5, 2.2];

/** How the running text looks, judged by some lines. */
export function lookOf(lines: readonly Line[], isBold: BodyLook["isBold"]): BodyLook {
  const weights = new Map<number, number>();
  for (const line of lines) {
    const size = roundSize(line.size);
    weights.set(size, (weights.get(size) ?? 0) + textOf(line).length);
  }
  const [[size] = [10]] = [...weights].sort(([, a], [, b]) => b - a);
  const headings = [...weights.keys()].filter((each) => each > size * HEADING_SCALE).sort((a, b) => b - a);
  return { size, headings, isBold };
}

/** Whether the name of a font says that it is bold. */
export function isBoldName(name: string): boolean {
  return BOLD.test(name);
}

/** The elements of a page, in the order of its lines, without ids. */
export function toBlocks(written: readonly Line[], look: BodyLook): DocumentElement[] {
  const elements: DocumentElement[] = [];
  const found = findTables(written);
  const { lines } = found;
  const tables = new Map(found.tables.map((table) => [table.start, table]));
  for (let at = 0; at < lines.length;) {
    const { element, end } = tables.get(at) ?? blockAt(lines, at, { look, tables });
    elements.push(element);
    at = end;
  }
  return withLists(elements);
}

interface Context {
  readonly look: BodyLook;
  readonly tables: ReadonlyMap<number, UnruledTable>;
}

/** The heading or the paragraph that begins with a line. */
function blockAt(
  lines: readonly Line[],
  start: number,
  context: Context,
): { readonly element: DocumentElement; readonly end: number } {
  const level = headingLevel(lines, start, context.look);
  const end = blockEnd(lines, start, { level, ...context });
  const text = joinLines(lines.slice(start, end));
  return {
    element: level === undefined
      ? { category: "text", content: { text } }
      : { category: "heading", content: { level, text } },
    end,
  };
}

/** The level of a heading by its size, or one below the sizes for a short bold line that stands alone or stands out. */
function headingLevel(lines: readonly Line[], at: number, look: BodyLook): number | undefined {
  const line = lines[at];
  if (line === undefined) return undefined;
  const text = textOf(line);
  if (text.length > MAX_HEADING || !/\p{L}/u.test(text)) return undefined;
  const bySize = look.headings.indexOf(roundSize(line.size));
  if (bySize >= 0) return Math.min(bySize + 1, 6);
  const next = lines[at + 1];
  const isAlone = isBreak(lines[at - 1], line) || standsOut(lines[at - 1], line, next);
  const isBold = look.isBold(line.font) && roundSize(line.size) >= look.size && !/[.,;]$/.test(text);
  const isLast = next === undefined || !look.isBold(next.font);
  return isBold && isAlone && isLast && text.length <= MAX_HEADING / 2
    ? Math.min(look.headings.length + 1, 6)
    : undefined;
}

/** Whether a line of one font between lines of others is no part of their sentences: it ends early, after a sentence. */
function standsOut(before: Line | undefined, line: Line, next: Line | undefined): boolean {
  if (before === undefined || next === undefined || line.hasOneFont !== true) return false;
  const isOther = before.font !== line.font && next.font !== line.font;
  const endsEarly = edgesOf(line)[1] <= edgesOf(next)[1] - line.size * 2;
  return isOther && endsEarly && /[.!?:]["'”’)\]]?$/.test(textOf(before)) &&
    /^[\p{Lu}\p{Lo}\d]/u.test(textOf(line));
}

/** The line after the heading of a level, or after the paragraph, that begins with a line. */
function blockEnd(
  lines: readonly Line[],
  start: number,
  { level, look, tables }: { readonly level: number | undefined } & Context,
): number {
  const first = lines[start];
  const isInItem = level === undefined && first !== undefined && isItem(first);
  let end = start + 1;
  for (; end < lines.length && !tables.has(end); end++) {
    const [before, line] = [lines[end - 1], lines[end]];
    if (before === undefined || line === undefined) break;
    const isOther = roundSize(line.size) !== roundSize(before.size) && Math.abs(line.size - before.size) > 1;
    const isEnd = level === undefined
      ? isBreak(before, line) || isItem(line)
      : endsHeading(level, before, line);
    if (isEnd || isOther || isInItem && leavesItem(lines, start, end)) break;
    if (headingLevel(lines, end, look) !== level) break;
  }
  return end;
}

/** Whether a line does not go on with a heading; the lines of a title may be as far apart as paragraphs. */
function endsHeading(level: number, before: Line, line: Line): boolean {
  const distance = (before.y - line.y) / line.size;
  const isFar = distance > HEADING_GAP && distance <= (level === 1 ? TITLE_GAP : PARAGRAPH_GAP);
  return isFar ? hasLeader(textOf(before)) || !goesOn(before, line) : isBreak(before, line);
}

/** Whether a heading goes on in a line that is far from the one before: within a sentence or a word, or in the same middle. */
function goesOn(before: Line, line: Line): boolean {
  const [[left, right], [start, end]] = [edgesOf(before), edgesOf(line)];
  const isCentered = Math.abs(left + right - start - end) <= line.size && Math.abs(left - start) > 1;
  return isCentered || /^\p{Ll}/u.test(textOf(line)) || /-$/.test(textOf(before));
}

/** Whether a line begins a block: it is far from the line before, above it, a note, or indented behind a short one or an entry. */
function isBreak(before: Line | undefined, line: Line): boolean {
  if (before === undefined || hasLeader(textOf(before))) return true;
  const distance = before.y - line.y;
  if (distance < -line.size * 0.5 || distance > Math.max(before.size, line.size) * PARAGRAPH_GAP) return true;
  if (line.isNote && (before.isNote || /[.!?:)]$/.test(textOf(before)))) return true;
  const [[beforeStart], [start]] = [edgesOf(before), edgesOf(line)];
  return start - beforeStart > line.size * 0.8 && /[.!?:]["')\]]?$/.test(textOf(before));
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}
