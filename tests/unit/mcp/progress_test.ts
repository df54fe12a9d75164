import { assertEquals } from "@std/assert";
import type { Progress } from "../../../src/mcp/call_options.ts";
import { ProgressReports, readProgress } from "../../../src/mcp/progress.ts";
import { WarnOnce } from "../../../src/mcp/warn_once.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { LogBook } from "../../fixtures/log_book.ts";

// proves: ext-progress-late
Deno.test("progress goes to the call of its token, and to none when that has ended", () => {
  using _timers = new FakeTimers();
  const log = new LogBook();
  const reports = new ProgressReports(new WarnOnce(log));
  const got: Progress[][] = [[], []];
  const [first, second] = got.map((all) => reports.open((progress) => all.push(progress)));
  reports.receive({ progressToken: first?.token, progress: 1 });
  reports.receive({ progressToken: String(second?.token), progress: 2 });
  first?.[Symbol.dispose]();
  reports.receive({ progressToken: first?.token, progress: 3 });
  for (const params of [undefined, "x", {}, { progress: 4 }]) reports.receive(params);
  for (const progressToken of [null, [second?.token], { toString: 0 }, "", "x".repeat(1_000)]) {
    reports.receive({ progressToken, progress: 4 });
  }
  assertEquals(got, [[{ progress: 1 }], [{ progress: 2 }]]);
  assertEquals(log.lines, []);
});

Deno.test("of progress in quick succession the last one counts, and the others are not read", () => {
  using timers = new FakeTimers();
  const log = new LogBook();
  const reports = new ProgressReports(new WarnOnce(log));
  const got: Progress[] = [];
  using call = reports.open((progress) => got.push(progress));
  reports.receive({ progressToken: call.token, progress: 1 });
  for (let index = 0; index < 1_000; index++) reports.receive({ progressToken: call.token, progress: "x" });
  reports.receive({ progressToken: call.token, progress: 2 });
  timers.advance(100);
  assertEquals([got, log.lines], [[{ progress: 1 }, { progress: 2 }], []]);
});

Deno.test("what was reported right before the result is passed on", () => {
  using timers = new FakeTimers();
  const reports = new ProgressReports(new WarnOnce(new LogBook()));
  const got: Progress[] = [];
  {
    using call = reports.open((progress) => got.push(progress));
    for (const progress of [1, 2, 3]) reports.receive({ progressToken: call.token, progress });
  }
  assertEquals([got, timers.waiting], [[{ progress: 1 }, { progress: 3 }], 0]);
});

Deno.test("texts of elsewhere count as progress until the server reports its own", () => {
  using timers = new FakeTimers();
  const reports = new ProgressReports(new WarnOnce(new LogBook()));
  const got: Progress[] = [];
  using call = reports.open((progress) => got.push(progress));
  for (const text of ["one", "one", "two"]) {
    call.note(text);
    timers.advance(100);
  }
  reports.receive({ progressToken: call.token, progress: 0.5 });
  call.note("three");
  timers.advance(100);
  assertEquals(got, [{ progress: 1, message: "one" }, { progress: 2, message: "two" }, { progress: 0.5 }]);
});

// proves: ext-progress-shape
Deno.test("readProgress() leaves out a total that cannot be one, and refuses other wrong shapes", () => {
  assertEquals(readProgress({ progress: 1, total: 0, message: "" }), { progress: 1 });
  assertEquals(readProgress({ progress: 1, total: null, message: null }), { progress: 1 });
  assertEquals(readProgress({ progress: 0.5, total: 2, message: "half", _meta: {} }), {
    progress: 0.5,
    total: 2,
    message: "half",
  });
  for (
    const wrong of [undefined, [], {}, { progress: "1" }, { progress: NaN }, { progress: 1, total: "2" }]
  ) {
    assertEquals(readProgress(wrong), undefined);
  }
  assertEquals(readProgress({ progress: 1, message: {} }), undefined);
});
