/** The parts of a text around words: a row with the names of its columns, or a paragraph with its neighbours. */
import { around } from "../search/excerpt.ts";
import { type Hit, toTerms, WordFinder } from "../search/found_words.ts";

/** The most lines that are shown for their words. */
const MAX_LINES = 40;
/** The most characters of one of them. */
const MAX_LENGTH = 4_000;

export interface Passages {
  /** The lines, with `…` where some are left out; empty when no line has one of the words. */
  readonly text: string;
  /** How many further lines have as many of the words. */
  readonly more: number;
}

/**
 * The lines of a Markdown text that have most of the words, with what they need to be understood.
 *
 * @param maxLength the most characters, beside what the first line brings along
 */
export function passagesAround(markdown: string, words: string, maxLength: number): Passages {
  const lines = markdown.split("\n");
  const found = foundLines(lines, words);
  const most = found.values().reduce((most, { count }) => Math.max(most, count), 0);
  const fitting = [...found].filter(([, { count }]) => count === most);
  const shown = new Map<number, string>();
  let length = 0;
  let taken = 0;
  for (const [at, { hits }] of fitting.slice(0, MAX_LINES)) {
    const added = neighboursOf(lines, at).filter((each) => !shown.has(each))
      .map((each) => [each, shortened(lines[each] ?? "", each === at ? hits[0]?.start : 0)] as const);
    const more = added.reduce((sum, [, line]) => sum + line.length + 1, 0);
    if (taken > 0 && length + more > maxLength) break;
    for (const [each, line] of added) shown.set(each, line);
    length += more;
    taken++;
  }
  return { text: joined(lines, shown), more: fitting.length - taken };
}

interface FoundLine {
  /** How many of the words it has; a row of a table that has one has those of its columns, too. */
  readonly count: number;
  readonly hits: readonly Hit[];
}

/** The lines that have words, by their numbers. */
function foundLines(lines: readonly string[], words: string): Map<number, FoundLine> {
  const finder = new WordFinder(toTerms(words));
  const found = new Map<number, FoundLine>();
  let columns: readonly number[] = [];
  for (const [at, line] of lines.entries()) {
    if (isRule(line)) continue;
    const { hits } = finder.find(line);
    const terms = hits.map(({ term }) => term);
    if (isRow(line) && !isRow(lines[at - 1])) columns = terms;
    if (hits.length === 0) continue;
    const count = new Set(isRow(line) ? [...terms, ...columns] : terms).size;
    // What stands below a heading says more.
    found.set(at, { count: /^#{1,6} /.test(line) ? count - 0.5 : count, hits });
  }
  return found;
}

function shortened(line: string, place = 0): string {
  return line.length <= MAX_LENGTH ? line : around(line, place, MAX_LENGTH);
}

/** Of a row of a table, the names of the columns; of another line, those before and after it. */
function neighboursOf(lines: readonly string[], at: number): number[] {
  if (!isRow(lines[at])) {
    const before = findFrom(lines, at, -1);
    const after = findFrom(lines, at, 1);
    return [before, at, after].filter((each) => each !== undefined);
  }
  let top = at;
  while (isRow(lines[top - 1])) top--;
  return top === at ? [at, at + 1] : [top, ...(isRule(lines[top + 1]) ? [top + 1] : []), at];
}

/** The next line that is not empty. */
function findFrom(lines: readonly string[], at: number, step: 1 | -1): number | undefined {
  for (let next = at + step; next >= 0 && next < lines.length; next += step) {
    if (lines[next]?.trim() !== "") return isRow(lines[next]) ? undefined : next;
  }
  return undefined;
}

function isRow(line: string | undefined): boolean {
  return line?.startsWith("| ") ?? false;
}

function isRule(line: string | undefined): boolean {
  return line !== undefined && /^\| --- /.test(line);
}

/** The lines in their order; `…` stands for others, but not between a row and the names of its columns. */
function joined(lines: readonly string[], shown: ReadonlyMap<number, string>): string {
  const parts: string[] = [];
  let last: number | undefined;
  for (const [at, line] of [...shown].sort(([a], [b]) => a - b)) {
    const isNext = last === undefined || lines.slice(last + 1, at).every((each) => each.trim() === "");
    if (!isNext && !(isRow(line) && isRow(lines[last ?? at]))) parts.push("…");
    parts.push(line);
    last = at;
  }
  return parts.join("\n");
}
