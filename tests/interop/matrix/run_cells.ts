/** Runs the cells of an SDK, one test for each, and leaves what came of them for `write_table.ts`. */
import { assert } from "@std/assert";
import { isFrom } from "../../../src/protocol/version.ts";
import { PeerError } from "../peer_process.ts";
import { type Cell, cellsOf, nameOf, rolesOf, type Sdk, titleOf } from "./cells.ts";
import { exceptionOf } from "./exceptions.ts";
import { Office } from "./office.ts";
import { type CellResult, type StepOutcome, writeResult } from "./results.ts";
import type { Step } from "./step.ts";
import { admissionSteps } from "./steps/admission.ts";
import { fileSteps } from "./steps/files.ts";
import { leavingSteps } from "./steps/leaving.ts";
import { toolSteps } from "./steps/tools.ts";
import { viewSteps } from "./steps/views.ts";

/** Every step, in the order in which they run. */
export const steps: readonly Step[] = [
  ...admissionSteps,
  ...toolSteps,
  ...viewSteps,
  ...fileSteps,
  ...leavingSteps,
];

/** How long a step may take, in milliseconds; those that wait longest take a third of it on a busy machine. */
const STEP_LIMIT_MS = 60_000;
/** How long a step that is expected to fail may take, in milliseconds: a defect is often that no answer comes. */
const EXCEPTION_LIMIT_MS = 8_000;

/** Registers a test for each cell; `skipReason` is printed and skips them. */
export function testCells(sdk: Sdk, skipReason: string | undefined): void {
  if (skipReason !== undefined) console.log(`interop: skipped, ${nameOf(sdk)}: ${skipReason}`);
  for (const cell of cellsOf(sdk)) {
    Deno.test({
      name: titleOf(cell),
      ignore: skipReason !== undefined,
      // Refused handshakes leave timers of the HTTP client behind.
      sanitizeOps: false,
      sanitizeResources: false,
      fn: (t) => runCell(cell, t),
    });
  }
}

async function runCell(cell: Cell, t: Deno.TestContext): Promise<void> {
  const outcomes: Record<string, StepOutcome> = {};
  await using office = await Office.open(cell);
  for (const step of steps) {
    if (step.from !== undefined && !isFrom(cell.sdk.minor, step.from)) continue;
    outcomes[step.id] = "fails";
    await t.step(step.title, async () => {
      outcomes[step.id] = await runStep(step, office);
    });
  }
  const { server, computer, agent, sdk } = cell;
  const result: CellResult = { sdk: nameOf(sdk), roles: rolesOf(cell), server, computer, agent, outcomes };
  await writeResult(result);
}

/** Rejects when the step fails without an exception, or passes in spite of one. */
async function runStep(step: Step, office: Office): Promise<StepOutcome> {
  const exception = exceptionOf(step.id, office.cell);
  if (exception === undefined) {
    await limited(step.run(office), STEP_LIMIT_MS);
    return "works";
  }
  const isFailing = await limited(step.run(office), EXCEPTION_LIMIT_MS).then(() => false, () => true);
  if (!isFailing && exception.isRace) return "works";
  assert(isFailing, `It works: remove the exception "${exception.reason}"`);
  return "excepted";
}

async function limited(running: Promise<void>, limitMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new PeerError(`Not done in ${limitMs} ms`)), limitMs);
  try {
    await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
