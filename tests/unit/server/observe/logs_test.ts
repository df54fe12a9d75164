import { assertEquals } from "@std/assert";
import { rateOf, TokenBucket } from "../../../../src/async/token_bucket.ts";
import { BoundedLog } from "../../../../src/bounded_log.ts";
import { createEventLogs, createRefusalLog } from "../../../../src/server/observe/logs.ts";
import { type LogFields, silentLogger } from "../../../../src/log.ts";
import { within } from "../../../fixtures/within.ts";
import { RecordingLogger } from "../../../integration/_socket.ts";

const now = () => 0;

Deno.test("the lines of a connection over its limit are counted, and the count is logged when it closes", () => {
  const logger = new RecordingLogger();
  const log = createEventLogs(logger, { now })("s1");
  for (let i = 0; i < 50; i++) log.write("warn", "refused", { i });
  assertEquals(logger.lines.map(({ fields }) => fields["i"]), Array.from({ length: 20 }, (_, i) => i));
  log.close();
  log.close();
  assertEquals(logger.lines.slice(20).map(({ fields }) => fields), [{ sid: "s1", lines_left_out: 30 }]);
});

Deno.test("errors that a connection is relayed have lines of their own, apart from refusals, and a limit", () => {
  const logger = new RecordingLogger();
  const createLog = createEventLogs(logger, { kind: "relayedErrors", now });
  const refusals = createEventLogs(logger, { now })("s1");
  for (let i = 0; i < 100; i++) refusals.write("warn", "refused", {});
  const log = createLog("s1");
  for (let i = 0; i < 1_000; i++) log.write("info", "relayed an error", { i });
  const relayed = () => logger.lines.filter(({ message }) => message === "relayed an error").length;
  assertEquals(relayed(), 300);
  const others = Array.from({ length: 20 }, (_, i) => createLog(`o${i}`));
  for (const other of others) for (let i = 0; i < 300; i++) other.write("info", "relayed an error", {});
  assertEquals(relayed(), 3_000);
  for (const each of [refusals, log, ...others]) each.close();
});

Deno.test("all connections together have a limit as well", () => {
  const logger = new RecordingLogger();
  const createLog = createEventLogs(logger, { now });
  const connections: BoundedLog[] = [];
  for (let i = 0; i < 100; i++) {
    const connection = createLog(`s${i}`);
    connections.push(connection);
    for (let line = 0; line < 10; line++) connection.write("info", "relayed an error", {});
  }
  assertEquals(logger.lines.length, 200);
  for (const connection of connections) connection.close();
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

Deno.test("lines that were left out are told when a line may be written again, though no other line comes", async () => {
  const told = Promise.withResolvers<LogFields | undefined>();
  const logger = {
    ...silentLogger,
    warn: (_message: string, fields?: LogFields) => told.resolve(fields),
  };
  const log = new BoundedLog(logger, {
    buckets: [new TokenBucket(rateOf(1, 50))],
    about: "tests",
    fields: { sid: "s" },
  });
  for (let i = 0; i < 3; i++) log.write("info", "refused", {});
  assertEquals(await within(told.promise, "the number of lines"), { sid: "s", lines_left_out: 2 });
  log.close();
});
