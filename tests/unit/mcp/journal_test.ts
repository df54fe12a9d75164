import { assert, assertEquals } from "@std/assert";
import { Journal } from "../../../src/mcp/journal.ts";
import { LogBook } from "../../fixtures/log_book.ts";

const TIME = "2026-01-02T03:04:05.678Z";

function journalAt(time = TIME) {
  const clock = { nowMs: Date.parse(time) };
  const log = new LogBook();
  const journal = new Journal({ log, now: () => new Date(clock.nowMs) });
  return { journal, log, clock };
}

Deno.test("a journal keeps states, lines of stderr and log messages in order, each with its time", () => {
  const { journal, clock } = journalAt();
  journal.state("starting");
  journal.stderr("one\r\ntwo\n\n");
  clock.nowMs += 1;
  journal.message({ level: "warning", logger: "db", data: "slow" });
  journal.message({ level: "info", data: { rows: 3 } });
  journal.state("retrying", "exit code 3");
  assertEquals(journal.lines, [
    `${TIME} state starting`,
    `${TIME} stderr one`,
    `${TIME} stderr two`,
    "2026-01-02T03:04:05.679Z warning db: slow",
    '2026-01-02T03:04:05.679Z info {"rows":3}',
    "2026-01-02T03:04:05.679Z state retrying: exit code 3",
  ]);
});

Deno.test("a line of stderr may arrive in pieces, and an incomplete one is kept when the process ends", () => {
  const { journal } = journalAt();
  for (const piece of ["a", "b\nc", "d"]) journal.stderr(piece);
  assertEquals(journal.lines, [`${TIME} stderr ab`]);
  journal.stderrEnded();
  journal.stderrEnded();
  assertEquals(journal.lines, [`${TIME} stderr ab`, `${TIME} stderr cd`]);
});

Deno.test("a journal keeps the last 200 lines, each cut to 1,000 characters", () => {
  const { journal } = journalAt();
  journal.stderr(Array.from({ length: 1_000 }, (_, i) => `${i}\n`).join(""));
  assertEquals([journal.lines.length, journal.lines[0]], [200, `${TIME} stderr 800`]);
  for (let i = 0; i < 100; i++) journal.stderr("x".repeat(1_000_000));
  journal.stderr("\n");
  journal.message({ level: "info", data: "y".repeat(1_000_000) });
  assertEquals(journal.lines.length, 200);
  for (const line of journal.lines) assert(line.length < 1_100);
});

Deno.test("log messages pass to our log by their level, fifty in ten seconds, and the others are counted", () => {
  const { journal, log, clock } = journalAt();
  journal.message({ level: "notice", data: "fine" });
  journal.message({ level: "error", data: "bad" });
  assertEquals(log.lines.map(({ level, fields }) => [level, fields]), [
    ["debug", { level: "notice", text: "fine" }],
    ["info", { level: "error", text: "bad" }],
  ]);
  for (let i = 0; i < 1_000; i++) journal.message({ level: "error", data: "bad" });
  assertEquals(log.lines.length, 50);
  clock.nowMs += 10_000;
  journal.message({ level: "error", data: "again" });
  assertEquals(log.lines.slice(50).map(({ fields }) => fields), [
    { dropped: 952 },
    { level: "error", text: "again" },
  ]);
});

Deno.test("an invalid log message is ignored", () => {
  const { journal, log } = journalAt();
  for (const params of [undefined, null, "x", {}, { level: "info" }, { level: 3, data: "x" }]) {
    journal.message(params);
  }
  assertEquals([journal.lines, log.lines], [[], []]);
});
