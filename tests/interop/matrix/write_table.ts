/**
 * Writes the table of `docs/interop.md` from what the tests of the matrix left: run them first, all of them.
 *
 *     deno test -A tests/interop/matrix && deno run -A tests/interop/matrix/write_table.ts
 */
import { cellsOf, nameOf, rolesOf, sdks } from "./cells.ts";
import { exceptions } from "./exceptions.ts";
import { type CellResult, readResults, type StepOutcome } from "./results.ts";

const page = new URL("../../../docs/interop.md", import.meta.url);
const TABLE = /(<!-- matrix -->)[^]*?(<!-- \/matrix -->)/;

/** A row: how many steps worked, and which did not. */
function rowOf({ sdk, roles, outcomes }: CellResult): string {
  const entries = Object.entries(outcomes);
  const those = (wanted: StepOutcome) => entries.filter(([, outcome]) => outcome === wanted);
  const missing = entries.filter(([, outcome]) => outcome !== "works")
    .map(([id, outcome]) => `${id} (${outcome})`);
  return `| ${sdk} | ${roles} | ${those("works").length} of ${entries.length} | ${missing.join(", ")} |`;
}

const results = await readResults();
const rows = sdks.flatMap((sdk) =>
  cellsOf(sdk).map((cell) => {
    const found = results.find(({ sdk: name, roles }) => name === nameOf(sdk) && roles === rolesOf(cell));
    if (found === undefined) {
      throw new TypeError(`Cannot write the table: no result of ${nameOf(sdk)}, ${rolesOf(cell)}`);
    }
    return rowOf(found);
  })
);
const table = [
  `Run on ${new Date().toISOString().slice(0, 10)}:`,
  "",
  "| SDK | roles | steps that work | others |",
  "| --- | --- | --- | --- |",
  ...rows,
  ...exceptions.map(({ steps, reason }) => `\n- ${steps.join(", ")}: ${reason}`),
].join("\n");
const text = await Deno.readTextFile(page);
await Deno.writeTextFile(page, text.replace(TABLE, (_all, start, end) => `${start}\n\n${table}\n\n${end}`));
