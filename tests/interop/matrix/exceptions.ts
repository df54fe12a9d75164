/**
 * What fails in the matrix through no fault of ours. The test of a cell fails when one of these no longer does, and the table
 * of `docs/interop.md` shows the reason.
 */
import type { Cell } from "./cells.ts";

/** One defect of another SDK, and where it shows. */
export interface Exception {
  /** The steps that it makes fail. */
  readonly steps: readonly string[];
  readonly cells: (cell: Cell) => boolean;
  /** Whose defect it is and what it does, as a sentence. */
  readonly reason: string;
}

/** Every exception. */
export const exceptions: readonly Exception[] = [];

/** The exception for a step in a cell. */
export function exceptionOf(step: string, cell: Cell): Exception | undefined {
  return exceptions.find(({ steps, cells }) => steps.includes(step) && cells(cell));
}
