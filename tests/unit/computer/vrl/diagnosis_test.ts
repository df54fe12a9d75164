import { assertEquals } from "@std/assert";
import { describeDiagnostics, describeFailure } from "../../../../src/computer/vrl/diagnosis.ts";

Deno.test("a finding is told with its line and column, counted in characters", () => {
  const script = '.ä = "ö"\n.b = foo()';
  const at = new TextEncoder().encode(script.slice(0, script.indexOf("foo"))).length;
  const labels = [{ message: "undefined function", span: [at, at + 3] as const }, {
    message: 'did you mean\n"bool"?',
    span: [at, at + 3] as const,
  }];
  assertEquals(
    describeDiagnostics([{ message: "call to undefined function", labels }], script),
    'line 2, column 6: call to undefined function (undefined function; did you mean "bool"?)',
  );
});

Deno.test("the first three findings are told, and a finding may have no place", () => {
  const findings = ["a", "b", "c", "d", "e"].map((message) => ({ message, labels: [] }));
  assertEquals(describeDiagnostics(findings, ""), "a; b; c; and 2 more");
});

Deno.test("a failure is told by its place, not by what was looked at", () => {
  const script = '.x = 1\n.y = parse_json!("SECRET")';
  const text = 'Termination;\nfunction call error for "parse_json" at (12:33): unable to parse json: SECRET';
  assertEquals(describeFailure(text, script), '"parse_json" failed at line 2, column 6');
  assertEquals(describeFailure("Termination;\naborted", script), "the script aborted");
  assertEquals(describeFailure("SECRET", script), "the script failed");
});
