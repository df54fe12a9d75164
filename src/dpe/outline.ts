/** The outline of a long document in levels: as much of it as one answer has room for. */
import { countOf } from "../text/text.ts";
import type { DPEOutlineEntry } from "../protocol/dpe.ts";

/** A chapter or a section of a document, in reading order. It ends where the next one of its level, or a higher one, begins. */
export interface OutlineSection {
  /** The title, for display. */
  readonly title: string;
  /** From 1, the highest level. */
  readonly level: number;
  /** The page on which it begins, from 0. */
  readonly page: number;
}

/** The first and the last page of a part of a document, from 0. */
export interface PageSpan {
  /** The first page. */
  readonly first: number;
  /** The last page. */
  readonly last: number;
}

/** The most tokens of an outline as a text. */
const MAX_TOKENS = 3_000;
/** What the number and the end of a line take of them. */
const TOKENS_OF_LINE = 2.8;
/** So few entries lead nowhere: a further level is shown, though neighbours become one entry. */
const FEW_ENTRIES = 8;

/**
 * The sections that begin within some pages: all levels that have room, from the highest on, each with the number of
 * sections of deeper levels in it. When not even the highest levels have room, neighbours become one entry.
 *
 * @param sections the whole outline
 * @param maxTokens the most tokens of {@linkcode renderOutline}
 */
export function outlineWithin(
  sections: readonly OutlineSection[],
  { first, last }: PageSpan,
  maxTokens = MAX_TOKENS,
): DPEOutlineEntry[] {
  const within = sections.filter(({ page }) => page >= first && page <= last);
  const levels = [...new Set(within.map(({ level }) => level))].sort((a, b) => a - b);
  let shown: DPEOutlineEntry[] = [];
  for (const deepest of levels) {
    const entries = downTo(within, deepest, levels);
    if (shown.length >= FEW_ENTRIES && tokensOf(entries) > maxTokens) break;
    shown = entries;
    if (tokensOf(entries) > maxTokens) break;
  }
  return grouped(shown, maxTokens);
}

/** The outline as a text: a line for each section, with the page on which it begins, indented by its level. */
export function renderOutline(entries: readonly DPEOutlineEntry[]): string {
  return entries.map(({ title, level, page_index, section_count = 0 }) => {
    const inner = section_count === 0 ? "" : ` [${countOf(section_count, "section")}]`;
    return `${"  ".repeat(level - 1)}${page_index}: ${title}${inner}`;
  }).join("\n");
}

/** The sections of these levels; each counts those below it that are deeper. */
function downTo(
  sections: readonly OutlineSection[],
  deepest: number,
  levels: readonly number[],
): DPEOutlineEntry[] {
  const entries: DPEOutlineEntry[] = [];
  for (const { title, level, page } of sections) {
    const above = entries.at(-1);
    if (level <= deepest) entries.push({ title, level: levels.indexOf(level) + 1, page_index: page });
    else if (above !== undefined) above.section_count = (above.section_count ?? 0) + 1;
    else entries.push({ title, level: 1, page_index: page });
  }
  return entries;
}

/** Makes one entry of neighbours, as many as it takes. */
function grouped(entries: DPEOutlineEntry[], maxTokens: number): DPEOutlineEntry[] {
  const tokens = tokensOf(entries);
  if (tokens <= maxTokens) return entries;
  let groups = entries;
  for (let each = Math.ceil(tokens / maxTokens); each <= entries.length; each++) {
    groups = entries.filter((_, at) => at % each === 0).map((first, group) => {
      const members = entries.slice(group * each, (group + 1) * each);
      const title = `${first.title} … ${members.at(-1)?.title}`;
      const section_count = members.reduce((sum, { section_count: inner = 0 }) => sum + 1 + inner, 0);
      return members.length === 1 ? first : { ...first, title, section_count };
    });
    if (tokensOf(groups) <= maxTokens) break;
  }
  return groups;
}

/** About how many tokens the text has, rather too many: one for four letters, and more for other scripts. */
function tokensOf(entries: readonly DPEOutlineEntry[]): number {
  const text = renderOutline(entries);
  const bytes = new TextEncoder().encode(text).length;
  return (2 * bytes - text.length) / 4 + entries.length * TOKENS_OF_LINE;
}
