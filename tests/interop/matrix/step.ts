/** A step of the matrix: one thing that works in a cell, or does not. */
import type { ProtocolMinor } from "../../../src/protocol/version.ts";
import type { Office } from "./office.ts";

/** What is tried in each cell whose protocol has it. */
export interface Step {
  /** In the results and in the list of exceptions. */
  readonly id: string;
  /** What works when the step passes, for the table. */
  readonly title: string;
  /** The first protocol that has it; all of them when absent. */
  readonly from?: ProtocolMinor;
  readonly run: (office: Office) => Promise<void>;
}
