import { assertEquals } from "@std/assert";
import { failureText, paintFailure, toFailure } from "../../../src/cli/outcome.ts";
import { COLORS, PLAIN } from "../../../src/terminal/screen.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";

Deno.test("paintFailure() colours the mark of an error and its code, and nothing of its words", () => {
  const text = failureText(toFailure(new SmcpError(404, "Cannot find x (12) error: y")));
  assertEquals(paintFailure(text, PLAIN), text);
  assertEquals(
    paintFailure(text, COLORS),
    "\u001b[31merror:\u001b[39m Cannot find x (12) error: y\u001b[2m (404)\u001b[22m",
  );
});

Deno.test("failureText() marks each problem of a config as an error", () => {
  const message =
    'Cannot read config "a.json" at 1:2: x\nCannot read config "a.json" at 3:4: y\n… and 2 more';
  assertEquals(
    failureText({ message, exitCode: 2 }),
    'error: Cannot read config "a.json" at 1:2: x\nerror: Cannot read config "a.json" at 3:4: y\n… and 2 more',
  );
});
