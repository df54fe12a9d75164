/** The outline of a long document in levels: as much of it as one answer has room for. */
import { countOf } from "../text/text.ts";
import type { DPEOutlineEntry } from "../protocol/dpe.ts";

/** A chapter or a section of a document, in reading order. It ends where the next one of its level, or a higher one, begins. */
export interface OutlineSection {
  readonly title: string;
  /** From 1, the highest level. */
  readonly level: number;
  /** The page on which it begins, from 0. */
  readonly page: number;
}

/** The first and the last page of a part of a document, from 0. */
export interface PageSpan {
  readonly first: number;
  readonly last: number;
}

/** The most characters of an outline as a text: some 3,000 tokens. */
export const MAX_OUTLINE_LENGTH = 9_000;

/**
 * The sections that begin within some pages: all levels that have room, from the highest on, each with the number of
 * sections of deeper levels in it. When not even the highest level has room, neighbours become one entry.
 *
 * @param sections the whole outline
 * @param maxLength the most characters of {@linkcode renderOutline}
 */
export function outlineWithin(
  sections: readonly OutlineSection[],
  { first, last }: PageSpan,
  maxLength = MAX_OUTLINE_LENGTH,
): DPEOutlineEntry[] {
  const within = sections.filter(({ page }) => page >= first && page <= last);
  const levels = [...new Set(within.map(({ level }) => level))].sort((a, b) => a - b);
  let shown: DPEOutlineEntry[] | undefined;
  for (const deepest of levels) {
    const entries = downTo(within, deepest, levels);
    if (shown !== undefined && renderOutline(entries).length > maxLength) break;
    shown = entries;
  }
  return grouped(shown ?? [], maxLength);
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
function grouped(entries: DPEOutlineEntry[], maxLength: number): DPEOutlineEntry[] {
  const length = renderOutline(entries).length;
  if (length <= maxLength) return entries;
  let groups = entries;
  for (let size = Math.ceil(length / maxLength); size <= entries.length; size++) {
    groups = entries.filter((_, at) => at % size === 0).map((first, group) => {
      const members = entries.slice(group * size, (group + 1) * size);
      const title = `${first.title} … ${members.at(-1)?.title}`;
      const section_count = members.reduce((sum, { section_count: inner = 0 }) => sum + 1 + inner, 0);
      return members.length === 1 ? first : { ...first, title, section_count };
    });
    if (renderOutline(groups).length <= maxLength) break;
  }
  return groups;
}
