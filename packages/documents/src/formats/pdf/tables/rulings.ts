/** The straight lines that a page draws, such as those between the cells of a table. */
import { type Matrix, numbersOf, type PageOperators, withMatrices } from "../operators.ts";

/** A line from left to right, or from the bottom to the top, in points from the lower left corner of the page. */
export interface Ruling {
  readonly isHorizontal: boolean;
  /** Its height on the page, or how far it is from the left. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

/** The most lines; a page with more of them is a drawing. */
const MAX_RULINGS = 5_000;
/** An area that is no thicker, in points, is a line. */
const MAX_THICKNESS = 3;
const MIN_LENGTH = 4;

type Point = readonly [x: number, y: number];

/** Finds the lines of a page; none when there are too many. */
export function rulingsOf(operators: PageOperators): readonly Ruling[] {
  // `fill`, `eoFillStroke` and the like, but not what sets their colors.
  const strokes = numbersOf(operators, /^(?!set).*stroke$/i);
  const fills = numbersOf(operators, /^(?:close)?(?:eo)?fill(?:stroke)?$/i);
  const rulings: Ruling[] = [];
  for (const [operator, args, matrix] of withMatrices(operators)) {
    if (operator !== operators.numbers.constructPath) continue;
    const [paint, [path] = []] = args as [number, [unknown]?];
    for (const { points, isCurved } of partsOf(path, matrix)) {
      // A line of so many points is a drawing.
      if (points.length > MAX_RULINGS) continue;
      if (strokes.has(paint)) rulings.push(...segments(points));
      if (fills.has(paint) && !isCurved) rulings.push(...thinArea(points));
      if (rulings.length > MAX_RULINGS) return [];
    }
  }
  return rulings;
}

/** How many numbers follow each code of a path: move, line, cubic curve, quadratic curve, close. */
const ARGUMENTS = [2, 2, 6, 4, 0] as const;
const [MOVE, LINE, , , CLOSE] = [0, 1, 2, 3, 4] as const;

/** A part of a path that consists of straight lines. */
interface PathPart {
  readonly points: readonly Point[];
  /** Whether curves lead to it or away from it. */
  readonly isCurved: boolean;
}

function* partsOf(path: unknown, [a, b, c, d, e, f]: Matrix): Generator<PathPart, void> {
  if (!(path instanceof Float32Array)) return;
  let points: Point[] = [];
  let isCurved = false;
  for (let at = 0; at < path.length;) {
    const code = path[at] ?? CLOSE;
    const count = ARGUMENTS[code];
    if (count === undefined) return;
    at += 1 + count;
    const [x = 0, y = 0] = path.subarray(at - 2, at);
    const point: Point = [a * x + c * y + e, b * x + d * y + f];
    if (code === LINE) points.push(point);
    else if (code === CLOSE) points.push(...points.slice(0, 1));
    else {
      isCurved = code !== MOVE;
      if (points.length > 1) yield { points, isCurved };
      points = [point];
    }
  }
  if (points.length > 1) yield { points, isCurved };
}

function* segments(points: readonly Point[]): Generator<Ruling, void> {
  for (const [index, to] of points.entries()) {
    const from = points[index - 1];
    if (from !== undefined) yield* line([from, to]);
  }
}

/** A filled area that is thin is a line. */
function thinArea(points: readonly Point[]): Iterable<Ruling> {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  if (top - bottom <= MAX_THICKNESS && right - left > top - bottom) {
    const middle = (bottom + top) / 2;
    return line([[left, middle], [right, middle]]);
  }
  if (right - left > MAX_THICKNESS) return [];
  const middle = (left + right) / 2;
  return line([[middle, bottom], [middle, top]]);
}

function* line([[x, y], [toX, toY]]: readonly [Point, Point]): Generator<Ruling, void> {
  const [width, height] = [Math.abs(toX - x), Math.abs(toY - y)];
  if (Math.max(width, height) < MIN_LENGTH || Math.min(width, height) > 1) return;
  yield width > height
    ? { isHorizontal: true, at: (y + toY) / 2, start: Math.min(x, toX), end: Math.max(x, toX) }
    : { isHorizontal: false, at: (x + toX) / 2, start: Math.min(y, toY), end: Math.max(y, toY) };
}
