/** What a page draws, as PDF.js lists it. */
import { type getDocumentProxy, getResolvedPDFJS } from "unpdf";
import type { TextItem } from "./lines.ts";

/** A file and a page of it, as PDF.js gives them. */
export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<Pdf["getPage"]>>;

/** An operator and its arguments. */
export type Operator = readonly [number: number, args: readonly unknown[]];

/** The operators of a page, in order. */
export interface PageOperators {
  readonly list: readonly Operator[];
  /** The numbers of all operators, by their names. */
  readonly numbers: Awaited<ReturnType<typeof getResolvedPDFJS>>["OPS"];
}

/** Lists what a page draws. Its pictures are decoded. */
export async function operatorsOf(page: PdfPage): Promise<PageOperators> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const list = fnArray.map((number: number, at: number): Operator => [number, argsArray[at] ?? []]);
  return { list, numbers: OPS };
}

/** The numbers of the operators with such names. */
export function numbersOf({ numbers }: PageOperators, name: RegExp): ReadonlySet<number> {
  return new Set(Object.entries(numbers).filter(([each]) => name.test(each)).map(([, number]) => number));
}

/** How coordinates become those of the page: `x' = a x + c y + e`, `y' = b x + d y + f`. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** The operators of a page in order, each with the matrix of its coordinates. */
export function* withMatrices(
  { list, numbers }: PageOperators,
): Generator<readonly [number: number, args: readonly unknown[], matrix: Matrix], void> {
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  const saved: Matrix[] = [];
  for (const [operator, args] of list) {
    switch (operator) {
      case numbers.save:
        saved.push(matrix);
        break;
      case numbers.restore:
      case numbers.paintFormXObjectEnd:
        matrix = saved.pop() ?? matrix;
        break;
      case numbers.transform:
        matrix = multiply(matrix, args);
        break;
      case numbers.paintFormXObjectBegin:
        saved.push(matrix);
        if (Array.isArray(args[0])) matrix = multiply(matrix, args[0]);
        break;
    }
    yield [operator, args, matrix];
  }
}

/** The matrix of coordinates that first go through another one. */
export function multiply(matrix: Matrix, by: readonly unknown[]): Matrix {
  const [a, b, c, d, e, f] = matrix;
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = by.map(Number);
  return [
    a * g + c * h,
    b * g + d * h,
    a * i + c * j,
    b * i + d * j,
    a * k + c * l + e,
    b * k + d * l + f,
  ];
}

/** Where the lines of a page run: to the right, upward, to the left or downward; in degrees. */
export type Direction = 0 | 90 | 180 | 270;

/** What makes coordinates those of the upright page. */
const TURNS: Readonly<Record<Direction, Matrix>> = {
  0: [1, 0, 0, 1, 0, 0],
  90: [0, -1, 1, 0, 0, 0],
  180: [-1, 0, 0, -1, 0, 0],
  270: [0, 1, -1, 0, 0, 0],
};

/** The direction of most letters. */
export function directionOf(items: Iterable<TextItem>): Direction {
  const letters: Record<Direction, number> = { 0: 0, 90: 0, 180: 0, 270: 0 };
  for (const { str, transform: [a = 1, b = 0] } of items) {
    const direction = Math.abs(a) >= Math.abs(b) ? (a >= 0 ? 0 : 180) : b > 0 ? 90 : 270;
    letters[direction] += str.trim().length;
  }
  const directions = [0, 90, 180, 270] as const;
  return directions.reduce((most, each) => letters[each] > letters[most] ? each : most);
}

/** A text at its place on the upright page. */
export function turnText<T extends TextItem>(item: T, direction: Direction): T {
  return direction === 0 ? item : { ...item, transform: multiply(TURNS[direction], item.transform) };
}

/** What an upright page draws. */
export function turnOperators({ list, numbers }: PageOperators, direction: Direction): PageOperators {
  return { list: [[numbers.transform, TURNS[direction]], ...list], numbers };
}

/** A rectangle on the upright page: its left, lower, right and upper edge. */
export function turnRect(
  [left = 0, bottom = 0, right = 0, top = 0]: readonly number[],
  direction: Direction,
): readonly number[] {
  // Two corners, as the axes of a matrix.
  const [x, y, toX, toY] = multiply(TURNS[direction], [left, bottom, right, top]);
  return [Math.min(x, toX), Math.min(y, toY), Math.max(x, toX), Math.max(y, toY)];
}
