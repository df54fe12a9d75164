/** The columns of a page that writes its lines from the top to the bottom through all of them. */
import { edgesOf, type Line, type TextItem, textOf, toLines } from "./lines.ts";

/** A strip without text between two columns, in points. */
interface Gutter {
  readonly start: number;
  readonly end: number;
}

/** The narrowest strip, in points. */
const MIN_WIDTH = 8;
/** In which part of the width of a page a strip lies. */
const MIDDLE = [0.2, 0.8] as const;
/** The share of the texts of a page that may cross it, such as its title. */
const MAX_CROSSING = 0.15;
/** The fewest lines of two columns of prose, and of one beside anything else. */
const [MIN_LINES, MIN_LINES_BESIDE] = [4, 8];
/** How many lines a column has at least for each of the other one; a table has fewer beside cells of several lines. */
const MIN_SHARE = 0.5;
/** How many words a line of prose has on average, and how many of its lines go on in a sentence. */
const [MIN_WORDS, MIN_CONTINUED] = [4, 0.4];
/** The share of its lines without a gap in them, and of those that reach over so much of its width. */
const [MIN_WHOLE, MIN_LONG, LONG] = [0.8, 0.5, 0.8];
/** The most columns are twice as many each time. */
const MAX_DEPTH = 2;

/** Puts the texts of each column after those of the one to its left; what stands across them stays between. */
export function inColumns(items: readonly TextItem[], depth = 0): readonly TextItem[] {
  const gutter = depth < MAX_DEPTH ? gutterOf(items) : undefined;
  if (gutter === undefined) return items;
  const ordered: TextItem[] = [];
  let band: TextItem[] = [];
  const endBand = () => {
    for (const item of divide(band, gutter, depth)) ordered.push(item);
    band = [];
  };
  for (const item of items) {
    const [left, right] = spanOf(item);
    if (left < gutter.start && right > gutter.end && item.str.trim() !== "") {
      endBand();
      ordered.push(item);
    } else band.push(item);
  }
  endBand();
  return ordered;
}

function spanOf({ width, transform: [, , , , x = 0] }: TextItem): readonly [left: number, right: number] {
  return [x, x + width];
}

/** The widest strip in the middle that fewest texts cross; `undefined` when too many cross each. */
function gutterOf(items: readonly TextItem[]): Gutter | undefined {
  const spans = items.filter(({ str }) => str.trim() !== "").map(spanOf);
  if (spans.length < MIN_LINES * 2) return undefined;
  const from = spans.reduce((least, [left]) => Math.min(least, left), Infinity);
  const width = spans.reduce((most, [, right]) => Math.max(most, right), -Infinity) - from;
  // What begins before a point, and has not ended there, covers it.
  const edges = spans.flatMap(([left, right]) => [[left, 1], [right, -1]] as const).sort(([a], [b]) => a - b);
  let best: (Gutter & { readonly crossing: number }) | undefined;
  let crossing = 0;
  for (const [at, [start, change]] of edges.entries()) {
    crossing += change;
    const end = edges[at + 1]?.[0] ?? start;
    const middle = ((start + end) / 2 - from) / width;
    const isGutter = end - start >= MIN_WIDTH && middle > MIDDLE[0] && middle < MIDDLE[1] &&
      crossing <= spans.length * MAX_CROSSING;
    const isBetter = best === undefined || crossing < best.crossing ||
      crossing === best.crossing && end - start > best.end - best.start;
    if (isGutter && isBetter) best = { start, end, crossing };
  }
  return best;
}

/** The texts to the left and then those to the right, if they are columns of lines that the page writes alternately. */
function divide(items: readonly TextItem[], gutter: Gutter, depth: number): readonly TextItem[] {
  const isLeft = items.map((item) => spanOf(item)[1] <= (gutter.start + gutter.end) / 2);
  const sides = [true, false].map((side) => items.filter((_, at) => isLeft[at] === side));
  const lines = sides.map((side) => toLines(side));
  const [few = 0, many = 0] = lines.map(({ length }) => length).sort((one, other) => one - other);
  const changes = isLeft.filter((side, at) => at > 0 && side !== isLeft[at - 1]).length;
  const areProse = few < MIN_LINES_BESIDE ? lines.every(isProse) : lines.some(isProse);
  const areColumns = few >= MIN_LINES && few >= many * MIN_SHARE && changes >= few / 2 && areProse;
  return areColumns ? sides.flatMap((side) => inColumns(side, depth + 1)) : items;
}

/** Whether most lines are whole, long, and go on from line to line. */
function isProse(lines: readonly Line[]): boolean {
  const words = lines.reduce((sum, line) => sum + (textOf(line).match(/\p{L}{2,}/gu)?.length ?? 0), 0);
  const right = lines.reduce((most, line) => Math.max(most, edgesOf(line)[1]), -Infinity);
  const left = lines.reduce((least, line) => Math.min(least, edgesOf(line)[0]), Infinity);
  const most = (isSuch: (line: Line) => boolean) => lines.filter(isSuch).length / lines.length;
  return words >= lines.length * MIN_WORDS &&
    most((line) => /^\p{Ll}/u.test(textOf(line))) >= MIN_CONTINUED &&
    most(({ pieces }) => pieces.length === 1) >= MIN_WHOLE &&
    most((line) => edgesOf(line)[1] - left >= (right - left) * LONG) >= MIN_LONG;
}
