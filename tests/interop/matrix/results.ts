/** What came of the cells, from the tests to the table: one file for each cell. */
import type { Player, RoleName } from "./cells.ts";

/** What came of a step: it works, fails, or fails by the defect of another SDK that an exception names. */
export type StepOutcome = "works" | "fails" | "excepted";

/** What came of a cell. */
export interface CellResult extends Readonly<Record<RoleName, Player>> {
  /** `Python 0.4.2` */
  readonly sdk: string;
  /** `their Server, our Computer, our Agent` */
  readonly roles: string;
  /** By the id of the step; steps that the protocol version does not have are missing. */
  readonly outcomes: Readonly<Record<string, StepOutcome>>;
}

const folder = new URL("../../../.test-reports/interop/", import.meta.url);

/** Keeps a result for the table. */
export async function writeResult(result: CellResult): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const name = `${result.sdk} ${result.roles}`.replaceAll(/[^\w.]+/g, "-");
  await Deno.writeTextFile(new URL(`${name}.json`, folder), JSON.stringify(result));
}

/** Every result that the tests have left. */
export async function readResults(): Promise<CellResult[]> {
  const results: CellResult[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    results.push(JSON.parse(await Deno.readTextFile(new URL(name, folder))));
  }
  return results;
}
