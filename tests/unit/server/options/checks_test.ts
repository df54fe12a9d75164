import { assert, assertEquals } from "@std/assert";
import {
  flagOf,
  OPTION_NAMES,
  optionLabel,
  rowOf,
  variableOf,
} from "../../../../src/server/options/checks.ts";

Deno.test("optionLabel() names an option by its flag and its property, and what nobody can set by its name", () => {
  assertEquals(optionLabel("maxPayloadBytes"), "--max-payload (maxPayloadBytes)");
  assertEquals(optionLabel("maxPendingConnections"), "maxPendingConnections (fixed)");
});

Deno.test("each option has a flag and a variable of its own", () => {
  const flags = OPTION_NAMES.map(flagOf);
  const variables = OPTION_NAMES.map(variableOf);
  assertEquals(new Set(flags).size, flags.length);
  assertEquals(new Set(variables).size, variables.length);
});

Deno.test("each row of the table is a sentence without its end, and says who needs it", () => {
  for (const name of OPTION_NAMES) {
    const { help, who } = rowOf(name);
    for (const text of [help, who]) assert(/^\S.*[^.]$/.test(text), name);
  }
});
