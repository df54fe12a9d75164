import { assertEquals } from "@std/assert";
import { EventLog } from "../../../src/server/event_log.ts";
import { RecordingLogger } from "../../integration/_socket.ts";

Deno.test("a connection's lines beyond its share are counted, and the count is told when it goes", () => {
  const logger = new RecordingLogger();
  const log = new EventLog(logger).ofConnection("s1");
  for (let i = 0; i < 50; i++) log.write("warn", "refused", { i });
  assertEquals(logger.lines.map(({ fields }) => fields["i"]), Array.from({ length: 20 }, (_, i) => i));
  log.close();
  log.close();
  assertEquals(logger.lines.slice(20).map(({ fields }) => fields), [{ sid: "s1", lines_left_out: 30 }]);
});

Deno.test("many connections together have a share as well", () => {
  const logger = new RecordingLogger();
  const log = new EventLog(logger);
  for (let i = 0; i < 100; i++) {
    const connection = log.ofConnection(`s${i}`);
    for (let line = 0; line < 10; line++) connection.write("info", "relayed an error", {});
  }
  assertEquals(logger.lines.length, 200);
});
