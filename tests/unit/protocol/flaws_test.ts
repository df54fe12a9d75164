/** A list of a hostile peer costs no more than its first wrong entries. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { MAX_BAD_ENTRIES, MAX_REPAIRED_ENTRIES, readList, readWith } from "../../../src/protocol/flaws.ts";

const entry = z.object({ name: z.string() });

/** A schema that counts how often it is run. */
function counting() {
  const counted = {
    runs: 0,
    safeParse: (value: unknown) => {
      counted.runs++;
      return entry.safeParse(value);
    },
  };
  return counted;
}

/** What is read of a list, how often the schema was run, and what was told. */
function readCounted(list: readonly unknown[], repair?: () => unknown) {
  const schema = counting();
  const flaws: string[] = [];
  const onFlaw = (field: string, what: string) => void flaws.push(`${field}: ${what}`);
  const entries = readList(list, { field: "list", read: readWith(schema, repair), onFlaw });
  return { entries, runs: schema.runs, flaws };
}

function filled(length: number, value: unknown): unknown[] {
  return Array.from({ length }, () => value);
}

Deno.test("what is no object is left out before the schema is run", () => {
  const { entries, runs, flaws } = readCounted([null, { name: "a" }, 1, "x", []]);
  assertEquals([entries, runs, flaws.length], [[{ name: "a" }], 1, 4]);
  assertEquals(flaws[0], "list.0: left out, expected an object");
});

Deno.test("after so many bad entries the rest of a list is left out in one line", () => {
  const { entries, runs, flaws } = readCounted([{ name: "good" }, ...filled(100_000, {}), { name: "late" }]);
  assertEquals(entries, [{ name: "good" }]);
  assertEquals([runs, flaws.length], [MAX_BAD_ENTRIES + 1, MAX_BAD_ENTRIES + 1]);
  assertStringIncludes(flaws.at(-1) ?? "", "the last 99001 entries");
});

Deno.test("of entries that are no objects no more are told, and few bad ones cost no good one", () => {
  assertEquals(readCounted(filled(100_000, null)).flaws.length, MAX_BAD_ENTRIES + 1);
  const mixed = [...filled(MAX_BAD_ENTRIES - 1, null), ...filled(20_000, { name: "good" })];
  assertEquals(readCounted(mixed).entries.length, 20_000);
});

Deno.test("so many entries are repaired, and no more", () => {
  const { entries, runs } = readCounted(filled(50_000, {}), () => ({ name: "repaired" }));
  assertEquals(entries.length, MAX_REPAIRED_ENTRIES);
  assert(runs <= 2 * MAX_REPAIRED_ENTRIES, `${runs}`);
});
