/** Tables whose cells are divided by lines. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { joinLines, type TextItem, toLines } from "../lines.ts";
import { divideText } from "../text_gaps.ts";
import { type Matrix, numbersOf, type PageOperators, withMatrices } from "../operators.ts";

/** How far from each other, in points, lines count as one, and how near they must come to meet. */
const TOLERANCE = 3;
/** The part of the side of a cell that must be drawn. */
const DRAWN_SIDE = 0.7;
/** With fewer cells with text, lines are a drawing or a form. */
const MIN_FILLED = 0.25;
/** The most pairs of lines that are compared. */
const MAX_PAIRS = 1_000_000;
/** The most cells of a table. */
const MAX_CELLS = 20_000;

/** A table and the texts in it. */
export interface RuledTable {
  readonly element: DocumentElement;
  readonly items: ReadonlySet<TextItem>;
}

/** Finds the tables among the lines of a page. */
export function ruledTables(rulings: readonly Ruling[], items: readonly TextItem[]): readonly RuledTable[] {
  return connected(rulings).flatMap((group) => {
    const grid = Grid.of(group);
    return grid?.toTable(items) ?? [];
  });
}

/** Groups the lines that meet, directly or through others. */
function connected(rulings: readonly Ruling[]): readonly (readonly Ruling[])[] {
  const horizontal = rulings.filter(({ isHorizontal }) => isHorizontal);
  const vertical = rulings.filter(({ isHorizontal }) => !isHorizontal);
  if (horizontal.length * vertical.length > MAX_PAIRS) return [];
  const groups = new Groups<Ruling>();
  for (const across of horizontal) {
    for (const down of vertical) {
      if (reaches(across, down.at) && reaches(down, across.at)) groups.join(across, down);
    }
  }
  return groups.all();
}

function reaches({ start, end }: Ruling, at: number): boolean {
  return at >= start - TOLERANCE && at <= end + TOLERANCE;
}

/** Things that belong together, as those that were joined say. */
class Groups<T> {
  readonly #parents = new Map<T, T>();

  join(one: T, other: T): void {
    this.#parents.set(this.find(one), this.find(other));
  }

  /** The one that stands for the group. */
  find(item: T): T {
    let root = item;
    for (let parent = this.#parents.get(root); parent !== undefined && parent !== root;) {
      root = parent;
      parent = this.#parents.get(root);
    }
    // The next search is short.
    this.#parents.set(item, root);
    return root;
  }

  all(): readonly (readonly T[])[] {
    return [...Map.groupBy(this.#parents.keys(), (item) => this.find(item)).values()];
  }
}

/** The cells between lines; where no line is drawn, neighbors are one cell. */
class Grid {
  /** Where the columns begin and end, from left to right. */
  readonly #xs: readonly number[];
  /** Where the rows begin and end, from the top to the bottom. */
  readonly #ys: readonly number[];
  /** The lines at each of these places. */
  readonly #down: ReadonlyMap<number, readonly Ruling[]>;
  readonly #across: ReadonlyMap<number, readonly Ruling[]>;
  /** The cells, each by its number from the left and the top, joined where no line divides them. */
  readonly #cells = new Groups<number>();

  private constructor(
    xs: readonly number[],
    ys: readonly number[],
    { down, across }: { readonly down: readonly Ruling[]; readonly across: readonly Ruling[] },
  ) {
    [this.#xs, this.#ys] = [xs, ys];
    this.#down = Map.groupBy(down, ({ at }) => xs.findLastIndex((x) => x <= at));
    this.#across = Map.groupBy(across, ({ at }) => ys.findIndex((y) => y <= at));
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) this.#joinNeighbors(row, column);
    }
  }

  /** `undefined` when the lines have no two rows and two columns between them. */
  static of(rulings: readonly Ruling[]): Grid | undefined {
    const across = rulings.filter(({ isHorizontal }) => isHorizontal);
    const down = rulings.filter(({ isHorizontal }) => !isHorizontal);
    // A table may be open at its left and right.
    const xs = places([...down.map(({ at }) => at), ...across.flatMap(({ start, end }) => [start, end])]);
    const ys = places(across.map(({ at }) => at)).reverse();
    const isTable = xs.length > 2 && ys.length > 2 && xs.length * ys.length <= MAX_CELLS;
    return isTable ? new Grid(xs, ys, { down, across }) : undefined;
  }

  get rows(): number {
    return this.#ys.length - 1;
  }

  get columns(): number {
    return this.#xs.length - 1;
  }

  /** `undefined` when too few cells have text. */
  toTable(items: readonly TextItem[]): RuledTable | undefined {
    const texts = new Map<number, TextItem[]>();
    const inside = new Set<TextItem>();
    for (const item of items) {
      const parts = this.#divide(item).map((part) => ({ part, cell: this.#cellOf(part) }));
      // A text that begins or ends outside the table is shown outside, whole.
      if (parts.some(({ cell }) => cell === undefined)) continue;
      inside.add(item);
      for (const { part, cell = 0 } of parts) {
        const others = texts.get(cell);
        if (others === undefined) texts.set(cell, [part]);
        else others.push(part);
      }
    }
    const filled = [...texts].filter(([, items]) => items.some(({ str }) => str.trim() !== "")).length;
    const count =
      new Set(Array.from({ length: this.rows * this.columns }, (_, cell) => this.#cells.find(cell))).size;
    if (count < 4 || filled < 2 || filled < count * MIN_FILLED) return undefined;
    const rows = Array.from(
      { length: this.rows },
      (_, row) =>
        Array.from({ length: this.columns }, (_, column) => {
          const cell = row * this.columns + column;
          return joinLines(toLines(texts.get(cell) ?? []));
        }),
    );
    const [headers = [], ...body] = withoutEmpty(rows);
    return {
      element: { category: "table", content: { headers, rows: body, total_rows: body.length } },
      items: inside,
    };
  }

  /** PDF.js joins texts that are near each other, also across a line: they are divided at the space nearest to it. */
  #divide(item: TextItem): readonly TextItem[] {
    const [left, row] = [item.transform[4] ?? 0, this.#rowOf(item)];
    const walls = this.#xs.filter((x, column) =>
      x > left + TOLERANCE && x < left + item.width - TOLERANCE && this.#divides(row, column)
    );
    return divideText(item, walls.map((x) => ({ start: x, end: x })));
  }

  /** The number of the row in which the middle of a text is. */
  #rowOf({ transform: [, , , , , y = 0], height }: TextItem): number {
    return this.#ys.findLastIndex((top) => top >= y + height * 0.3);
  }

  /** Whether the left side of a cell divides it from its neighbor. */
  #divides(row: number, column: number): boolean {
    if (row < 0 || row >= this.rows || column === 0 || column >= this.columns) return false;
    const cell = row * this.columns + column;
    return this.#cells.find(cell - 1) !== this.#cells.find(cell);
  }

  /** The first of the joined cells that a text lies in. */
  #cellOf(item: TextItem): number | undefined {
    const middle = (item.transform[4] ?? 0) + item.width / 2;
    const [column, row] = [this.#xs.findLastIndex((left) => left <= middle), this.#rowOf(item)];
    if (column < 0 || column >= this.columns || row < 0 || row >= this.rows) return undefined;
    return this.#cells.find(row * this.columns + column);
  }

  /** The group of a cell stands for the cell at its top left, since cells are visited in order. */
  #joinNeighbors(row: number, column: number): void {
    const cell = row * this.columns + column;
    const [left = 0, right = 0] = this.#xs.slice(column, column + 2);
    const [top = 0, bottom = 0] = this.#ys.slice(row, row + 2);
    this.#cells.join(cell, cell);
    if (column > 0 && !isDrawn(this.#down.get(column), [bottom, top])) this.#join(cell - 1, cell);
    if (row > 0 && !isDrawn(this.#across.get(row), [left, right])) this.#join(cell - this.columns, cell);
  }

  #join(before: number, cell: number): void {
    const [first, other] = [this.#cells.find(before), this.#cells.find(cell)].sort((a, b) => a - b);
    if (first !== undefined && other !== undefined) this.#cells.join(other, first);
  }
}

/** Whether lines draw most of the side of a cell. */
function isDrawn(rulings: readonly Ruling[] | undefined, [from, to]: readonly [number, number]): boolean {
  let drawn = 0;
  let reached = from;
  for (const { start, end } of (rulings ?? []).toSorted((a, b) => a.start - b.start)) {
    drawn += Math.max(0, Math.min(end, to) - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return drawn >= (to - from) * DRAWN_SIDE;
}

/** Places that are near each other are one. */
function places(all: readonly number[]): number[] {
  const merged: number[] = [];
  let last = -Infinity;
  for (const place of all.toSorted((a, b) => a - b)) {
    if (place - last > TOLERANCE) merged.push(place);
    last = place;
  }
  return merged;
}

/** Lines drawn twice leave rows and columns without text. */
function withoutEmpty(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const columns = (rows[0] ?? []).flatMap((_, column) =>
    rows.some((row) => row[column] !== "") ? [column] : []
  );
  return rows.filter((row) => row.some((text) => text !== ""))
    .map((row) => columns.map((column) => row[column] ?? ""));
}

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
