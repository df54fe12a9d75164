import { assertEquals, assertStringIncludes } from "@std/assert";
import { readAttacks, readPassed, tableOf } from "../../../tools/attacks.ts";

const report = `<testsuites name="deno test" tests="3" failures="1" errors="0" time="0.5">
  <testsuite name="./tests/attacks/names_test.ts" tests="2" disabled="0" errors="0" failures="1">
    <testcase name="a &apos;name&apos;" classname="./tests/attacks/names_test.ts" time="0.1"></testcase>
    <testcase name="b" classname="./tests/attacks/names_test.ts" time="0.1"><failure message="x"/></testcase>
  </testsuite>
  <testsuite name="./tests/unit/log_test.ts" tests="1" disabled="0" errors="0" failures="0">
    <testcase name="c" classname="./tests/unit/log_test.ts" time="0.1"></testcase>
  </testsuite>
</testsuites>`;

Deno.test("readPassed() reads the tests that passed, and where", () => {
  assertEquals(readPassed(report), [
    { file: "tests/attacks/names_test.ts", name: "a 'name'" },
    { file: "tests/unit/log_test.ts", name: "c" },
  ]);
});

Deno.test("readAttacks() finds who attacks in the first line of each file", async () => {
  const attacks = await readAttacks(readPassed(report));
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
