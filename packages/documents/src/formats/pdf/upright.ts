/** Turns a page, so that most of its letters stand upright: tables as wide as a page are often set sideways. */
import { type Matrix, multiply, type PageOperators } from "./operators.ts";
import type { TextItem } from "./lines.ts";

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
