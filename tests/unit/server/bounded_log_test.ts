import { assertEquals } from "@std/assert";
import { createEventLogs, createRefusalLog } from "../../../src/server/bounded_log.ts";
import { RecordingLogger } from "../../integration/_socket.ts";

Deno.test("the lines of a connection over its limit are counted, and the count is logged when it closes", () => {
  const logger = new RecordingLogger();
  const log = createEventLogs(logger)("s1");
  for (let i = 0; i < 50; i++) log.write("warn", "refused", { i });
  assertEquals(logger.lines.map(({ fields }) => fields["i"]), Array.from({ length: 20 }, (_, i) => i));
  log.close();
  log.close();
  assertEquals(logger.lines.slice(20).map(({ fields }) => fields), [{ sid: "s1", lines_left_out: 30 }]);
});

Deno.test("all connections together have a limit as well", () => {
  const logger = new RecordingLogger();
  const createLog = createEventLogs(logger);
  for (let i = 0; i < 100; i++) {
    const connection = createLog(`s${i}`);
    for (let line = 0; line < 10; line++) connection.write("info", "relayed an error", {});
  }
  assertEquals(logger.lines.length, 200);
});

Deno.test("refused connections are logged up to a limit, then counted", () => {
  const logger = new RecordingLogger();
  const log = createRefusalLog(logger);
  for (let i = 0; i < 23; i++) log.write("error", "refused", { i });
  log.close();
  assertEquals(logger.lines.length, 21);
  assertEquals(logger.lines.at(-1), {
    level: "warn",
    message: "left out log lines of refused connections",
    fields: { lines_left_out: 3 },
  });
});
