/** The parts of a text around words: a row with the names of its columns, or a paragraph with its neighbours. */
import { isPrefix, queryWords, termOf, wordsOf } from "@a2c-smcp/sdk/words";

/** The most lines that are shown for their words. */
const MAX_LINES = 40;
const IS_ASCII = /^[\0-\x7f]*$/;

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
  const terms = [...new Set(queryWords(words).flatMap((word) => termOf(word) ?? []))];
  const counts = countsOf(lines, terms);
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return { text: "", more: 0 };
  const fitting = counts.flatMap((count, at) => count === most ? [at] : []);
  const shown = new Set<number>();
  let length = 0;
  let taken = 0;
  for (const at of fitting.slice(0, MAX_LINES)) {
    const added = neighboursOf(lines, at).filter((each) => !shown.has(each));
    const more = added.reduce((sum, each) => sum + (lines[each]?.length ?? 0) + 1, 0);
    if (taken > 0 && length + more > maxLength) break;
    for (const each of added) shown.add(each);
    length += more;
    taken++;
  }
  return { text: joined(lines, shown), more: fitting.length - taken };
}

/** How many of the terms each line has; a row of a table that has one has those of its columns, too. */
function countsOf(lines: readonly string[], terms: readonly string[]): number[] {
  let columns: readonly string[] = [];
  return lines.map((line, at) => {
    if (isRule(line)) return 0;
    const found = termsOf(line, terms);
    if (!isRow(line)) return found.size;
    if (!isRow(lines[at - 1])) columns = [...found];
    return found.size === 0 ? 0 : new Set([...found, ...columns]).size;
  });
}

function termsOf(line: string, terms: readonly string[]): ReadonlySet<string> {
  const lower = line.toLowerCase();
  const found = new Set<string>();
  // A term is a part of its word, without accents: most lines need not be taken apart.
  if (IS_ASCII.test(line) && !terms.some((term) => lower.includes(term))) return found;
  for (const word of wordsOf(line)) {
    const term = termOf(word);
    const fitting = term === undefined
      ? undefined
      : terms.find((each) => each === term || (isPrefix(each) && term.startsWith(each)));
    if (fitting !== undefined) found.add(fitting);
  }
  return found;
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
function joined(lines: readonly string[], shown: ReadonlySet<number>): string {
  const parts: string[] = [];
  let last: number | undefined;
  for (const at of [...shown].sort((a, b) => a - b)) {
    const line = lines[at] ?? "";
    const isNext = last === undefined || lines.slice(last + 1, at).every((each) => each.trim() === "");
    if (!isNext && !(isRow(line) && isRow(lines[last ?? at]))) parts.push("…");
    parts.push(line);
    last = at;
  }
  return parts.join("\n");
}
