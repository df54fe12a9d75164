import { assertEquals } from "@std/assert";
import { AuthenticationError, JoinRefusedError } from "../../../src/link/errors.ts";
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

Deno.test("a refused join has the code of the Server, and 503 counts as a Server that cannot be reached", () => {
  const refused = toFailure(new JoinRefusedError("Cannot join: not granted", { serverCode: 403 }));
  assertEquals([refused.code, refused.exitCode], [403, 4]);
  assertEquals(failureText(refused), "error: Cannot join: not granted (403)");
  const away = toFailure(new JoinRefusedError("Cannot join: try again", { serverCode: 503 }));
  assertEquals([away.code, away.exitCode], [503, 3]);
  const full = toFailure(
    new JoinRefusedError("Room already has an agent (4101)", { serverCode: 4101, isPassing: true }),
  );
  assertEquals(full.exitCode, 6);
  assertEquals(failureText(full), "error: Room already has an agent (4101)");
  assertEquals(toFailure(new JoinRefusedError("No")).code, "JOIN_REFUSED");
});

Deno.test("a sender that the Server does not allow is not told to give other credentials", () => {
  const message = 'Cannot connect to "http://a": Origin not allowed';
  const failure = toFailure(new AuthenticationError(message, { serverCode: 403 }));
  assertEquals([failure.message, failure.exitCode], [message, 4]);
});

Deno.test("refused credentials say how to give valid ones, also when some were given and have expired", () => {
  assertEquals(
    toFailure(new AuthenticationError("Cannot connect: token expired")).message,
    "Cannot connect: token expired; give valid credentials with --token (A2C_TOKEN), --token-file, " +
      '--token-command, --auth or --header; who runs the Server has them, or approves "a2c-smcp computer join URL"',
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
