import { assertEquals } from "@std/assert";
import { failuresOf, readReport } from "../../../tools/test.ts";

const report = `<testsuites name="deno test" tests="3" failures="1" errors="0" time="0.5">
  <testsuite name="./tests/attacks/names_test.ts" tests="2" disabled="0" errors="0" failures="1">
    <testcase name="a &apos;name&apos;" classname="./tests/attacks/names_test.ts" time="0.1"></testcase>
    <testcase name="b" classname="./tests/attacks/names_test.ts" time="0.1"><failure message="x"/></testcase>
  </testsuite>
  <testsuite name="./tests/unit/log_test.ts" tests="1" disabled="0" errors="0" failures="0">
    <testcase name="c" classname="./tests/unit/log_test.ts" time="0.1"></testcase>
    <testcase name="d" classname="./tests/unit/log_test.ts" time="0.0"><skipped/></testcase>
  </testsuite>
</testsuites>`;

Deno.test("readReport() reads how each test ended, and where", () => {
  assertEquals(readReport(report), [
    { file: "tests/attacks/names_test.ts", name: "a 'name'", outcome: "passed" },
    { file: "tests/attacks/names_test.ts", name: "b", outcome: "failed" },
    { file: "tests/unit/log_test.ts", name: "c", outcome: "passed" },
    { file: "tests/unit/log_test.ts", name: "d", outcome: "skipped" },
  ]);
});

Deno.test("failuresOf() names the tests that failed, or the lane alone", () => {
  assertEquals(failuresOf("parallel", readReport(report)), ["parallel: tests/attacks/names_test.ts => b"]);
  assertEquals(failuresOf("parallel", []), ["parallel"]);
});
