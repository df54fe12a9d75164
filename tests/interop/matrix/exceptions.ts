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
  /** Set when the defect is a race, so that the steps may work all the same. */
  readonly isRace?: true;
  /** Whose defect it is and what it does, as a sentence. */
  readonly reason: string;
}

/** Every exception. */
export const exceptions: readonly Exception[] = [
  {
    steps: ["second-agent"],
    cells: ({ sdk, agent }) => sdk.language === "Rust" && agent === "theirs",
    reason:
      "The Agent of the Rust SDK asks no ack of its request to join, so that a refused Agent learns of it only by what it then misses.",
  },
  {
    steps: ["time-out"],
    cells: ({ sdk, agent }) => sdk.language === "Rust" && agent === "theirs",
    reason: "The Agent of the Rust SDK has one time-out for all its calls, not one for each.",
  },
  {
    steps: ["cancel"],
    cells: ({ sdk, agent }) => sdk.language === "Rust" && agent === "theirs",
    reason: "The Agent of the Rust SDK tells its caller the id of no call, so that none can be cancelled.",
  },
  {
    steps: ["update-desktop"],
    cells: ({ sdk, computer }) => sdk.language === "Rust" && computer === "theirs",
    reason: "The Computer of the Rust SDK subscribes to no window, so that it hears of no change.",
  },
  {
    steps: ["second-computer"],
    cells: ({ sdk, server, computer }) =>
      sdk.language === "Rust" && server === "theirs" && computer === "theirs",
    isRace: true,
    reason:
      "The client of the Rust SDK loses an ack that comes within half a millisecond, which that of its own Server does now and then.",
  },
  {
    steps: ["disconnect"],
    cells: ({ sdk, server }) => sdk.language === "Rust" && server === "theirs",
    isRace: true,
    reason:
      "The Server of the Rust SDK announces a Computer before it can be called, so that a call right after `notify:enter_office` is refused now and then.",
  },
];

/** The exception for a step in a cell. */
export function exceptionOf(step: string, cell: Cell): Exception | undefined {
  return exceptions.find(({ steps, cells }) => steps.includes(step) && cells(cell));
}
