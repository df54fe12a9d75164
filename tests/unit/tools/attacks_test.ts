import { assertEquals, assertStringIncludes } from "@std/assert";
import { countPassed, readAttacks, tableOf } from "../../../tools/attacks.ts";

const report = `<testsuites name="deno test" tests="6" failures="1" errors="0" time="0.5">
  <testsuite name="./tests/attacks/names_test.ts" tests="3" disabled="1" errors="0" failures="1"></testsuite>
  <testsuite name="./tests/unit/log_test.ts" tests="3" disabled="0" errors="0" failures="0"></testsuite>
</testsuites>`;

Deno.test("countPassed() counts the attack tests that passed, by file", () => {
  assertEquals([...countPassed(report)], [["tests/attacks/names_test.ts", 1]]);
});

Deno.test("readAttacks() finds who attacks in the first line of each file", async () => {
  const attacks = await readAttacks(countPassed(report));
  const names = attacks.find(({ file }) => file === "tests/attacks/names_test.ts");
  assertEquals(names?.passed, 1);
  assertStringIncludes(names?.attacker ?? "", "a member that wants to pass for another");
});

Deno.test("tableOf() ends with the sum", () => {
  const table = tableOf([
    { file: "a_test.ts", attacker: "a", passed: 2 },
    { file: "b_test.ts", attacker: "b", passed: 3 },
  ]);
  assertEquals(table.split("\n").at(-1), "| all | | 5 |");
});
