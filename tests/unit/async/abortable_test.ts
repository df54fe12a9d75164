import process from "node:process";
import { assertEquals, assertRejects } from "@std/assert";
import { abortable, onAbort, settledWithin, untilAborted } from "../../../src/async/abortable.ts";
import { Deadline } from "../../../src/async/deadline.ts";

Deno.test("abortable() settles as its promise does", async () => {
  const { signal } = new AbortController();
  assertEquals(await abortable(Promise.resolve(1), signal), 1);
  assertEquals(await abortable(Promise.resolve(2), undefined), 2);
  await assertRejects(() => abortable(Promise.reject(new TypeError("own")), signal), TypeError, "own");
});

Deno.test("abortable() rejects with the signal's reason when it is aborted first", async () => {
  const abort = new AbortController();
  const waiting = abortable(new Promise(() => {}), abort.signal);
  abort.abort(new TypeError("enough"));
  await assertRejects(() => waiting, TypeError, "enough");
  await assertRejects(() => abortable(new Promise(() => {}), abort.signal), TypeError, "enough");
});

Deno.test("abortable() handles a rejection that comes after the abort", async () => {
  const abort = new AbortController();
  const late = Promise.withResolvers<void>();
  const waiting = abortable(late.promise, abort.signal);
  abort.abort(new TypeError("enough"));
  await assertRejects(() => waiting, TypeError, "enough");
  late.reject(new TypeError("too late"));
  await late.promise.catch(() => {});
});

Deno.test("settledWithin() gives what its promise resolves to in time, and undefined after", async () => {
  assertEquals(await settledWithin(Promise.resolve(1), 60_000), 1);
  assertEquals(await settledWithin(new Promise(() => {}), 1), undefined);
});

Deno.test("settledWithin() rejects as its promise does in time, and handles a later rejection", async () => {
  await assertRejects(() => settledWithin(Promise.reject(new TypeError("own")), 60_000), TypeError, "own");
  const late = Promise.withResolvers<void>();
  assertEquals(await settledWithin(late.promise, 1), undefined);
  late.reject(new TypeError("too late"));
});

Deno.test("a time that is over ends at once, without a warning of the runtime", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on("warning", onWarning);
  try {
    assertEquals(await settledWithin(new Promise(() => {}), -1.5), undefined);
    using deadline = new Deadline(-1.5, { reason: () => new TypeError("over") });
    await untilAborted(deadline.signal);
  } finally {
    process.off("warning", onWarning);
  }
  assertEquals(warnings, []);
});

Deno.test("untilAborted() resolves when its signal is aborted, at once when it was before", async () => {
  const abort = new AbortController();
  const waiting = untilAborted(abort.signal);
  abort.abort(new TypeError("enough"));
  assertEquals([await waiting, await untilAborted(abort.signal)], [undefined, undefined]);
});

Deno.test("onAbort() tells at once of an abort that has been, and of none after its disposal", () => {
  const told: string[] = [];
  const ending = new AbortController();
  onAbort(ending.signal, () => told.push("disposed"))[Symbol.dispose]();
  using _ = onAbort(ending.signal, () => told.push("aborted"));
  ending.abort();
  using _late = onAbort(ending.signal, () => told.push("late"));
  assertEquals(told, ["aborted", "late"]);
});
