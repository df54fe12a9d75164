import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  describeDiagnostics,
  describeFailure,
  VrlEngine,
  VrlError,
} from "../../../../src/computer/vrl/engine.ts";

async function run(engine: VrlEngine, script: string, event: unknown): Promise<unknown> {
  return JSON.parse(await engine.run(script, event));
}

// The engine takes a moment to load, so one is shared.
Deno.test("a VRL engine", async (t) => {
  // Events of megabytes take seconds on a busy machine.
  using engine = new VrlEngine({ runTimeoutMs: 60_000 });

  // proves: data-config-vrl
  await t.step("runs a script on an event and gives the changed event", async () => {
    const script = ".text = upcase(string!(.content[0].text)); .count = .n + 1 ?? 0; del(.content)";
    const event = { content: [{ type: "text", text: "grüß dich 😀" }], n: 2 ** 40, nothing: null, half: 0.5 };
    assertEquals(await run(engine, script, event), {
      text: "GRÜSS DICH 😀",
      n: 2 ** 40,
      count: 2 ** 40 + 1,
      nothing: null,
      half: 0.5,
    });
    assertEquals(await run(engine, ". = [1, null]", {}), [1, null]);
  });

  await t.step("compiles a script, or says where it is wrong", async () => {
    await engine.compile('.a = "x"');
    const error = await assertRejects(() => engine.compile(".a = 1\n.b = foo(.a)"), TypeError);
    assertEquals(
      error.message,
      'Cannot compile the VRL script: line 2, column 6: call to undefined function (undefined function; did you mean "bool"?)',
    );
    for (const script of [".a =", ".a = parse_json(.b)", "\u0000", "}{"]) {
      const { message } = await assertRejects(() => engine.compile(script), TypeError);
      // deno-lint-ignore no-control-regex
      assert(!/\u001b|\n/.test(message), message);
    }
  });

  await t.step("says where a script failed, without quoting the event", async () => {
    const event = { text: "SECRET" };
    const cases: [string, string][] = [
      [".x = 1\n.y = parse_json!(.text)", '"parse_json" failed at line 2, column 6'],
      ["abort", "the script aborted"],
      ["abort string!(.text)", "the script failed"],
      ["assert!(false, message: string!(.text))", '"assert" failed at line 1, column 1'],
    ];
    for (const [script, why] of cases) {
      const { message } = await assertRejects(() => engine.run(script, event), VrlError);
      assertEquals(message, `Cannot run the VRL script: ${why}`);
    }
  });

  await t.step("has no access to this process", async () => {
    assert(Deno.env.get("PATH") !== undefined);
    assertEquals(await run(engine, '.x = get_env_var("PATH") ?? "hidden"', {}), { x: "hidden" });
  });

  await t.step("reads times without a zone in the time zone of the system", async () => {
    const text = "2021-07-10 12:00:00";
    const made = await run(engine, '.t = parse_timestamp!(.t, format: "%F %T")', { t: text });
    assertEquals(made, { t: new Date("2021-07-10T12:00:00").toISOString().replace(".000Z", "Z") });
  });

  await t.step("accepts a text with a lone surrogate", async () => {
    assertEquals(await run(engine, ".x = 1", { text: "cut \ud83d", say: "\\ud83d" }), {
      text: "cut \ufffd",
      say: "\\ud83d",
      x: 1,
    });
  });

  await t.step("refuses an event over 4 MiB", async () => {
    assertEquals(await run(engine, ". = length!(.text)", { text: "x".repeat(4_000_000) }), 4_000_000);
    const error = await assertRejects(() => engine.run(".", { text: "x".repeat(4 * 1024 * 1024) }), VrlError);
    assertEquals(error.message, "Cannot run the VRL script: the result is too large");
  });

  await t.step("survives an event that crashes the engine", async () => {
    let deep: unknown = 1;
    for (let i = 0; i < 200; i++) deep = [deep];
    await assertRejects(
      () => engine.run(".x = 1", { deep }),
      VrlError,
      "crashed",
    );
    assertEquals(await run(engine, ".x = 1", {}), { x: 1 });
  });

  await t.step("runs scripts one after the other, and a caller may stop waiting", async () => {
    const enough = AbortSignal.abort(new TypeError("enough"));
    const all = [1, 2, 3].map((n) => run(engine, ".n = .n * 2 ?? 0", { n }));
    await assertRejects(() => engine.run(".", {}, { signal: enough }), TypeError, "enough");
    assertEquals(await Promise.all(all), [{ n: 2 }, { n: 4 }, { n: 6 }]);
  });
});

Deno.test("a script that takes too long is terminated, and the next one runs", async () => {
  using engine = new VrlEngine({ runTimeoutMs: 1_000 });
  const loop = (body: string) => `for_each(array!(.a)) -> |_index, _value| { ${body} }`;
  // Several seconds, and not without end: the thread of a worker that Deno 2.9 terminates goes on until its script ends,
  // and took a core from all other tests.
  const long = engine.run(loop(loop(loop(".n = 1"))), { a: Array(250).fill(0) });
  const next = engine.run(".x = 1", {});
  await assertRejects(() => long, VrlError, "1000 ms");
  assertEquals(await next, '{"x":1}');
});

Deno.test("a script that takes too much memory is terminated, this process survives, and the next one runs", async () => {
  using engine = new VrlEngine({ runTimeoutMs: 120_000 });
  const doubled = Array(40).fill(".text = string!(.text) + string!(.text)").join("\n");
  for (const script of [".a[1000000000] = 1", doubled]) {
    await assertRejects(() => engine.run(script, { text: "0123456789" }), VrlError, "crashed");
    assertEquals(await engine.run(".x = 1", {}), '{"x":1}');
  }
});

Deno.test("close() ends the running script and rejects later ones", async () => {
  const engine = new VrlEngine();
  const running = engine.run(".x = 1", {});
  const waiting = engine.run(".x = 1", {});
  engine.close();
  engine.close();
  for (const run of [running, waiting, engine.compile(".x = 1")]) {
    await assertRejects(() => run, VrlError, "Cannot use the VRL engine: closed");
  }
});

Deno.test("a finding has its line and column, counted in characters", () => {
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

Deno.test("the first three findings are listed, also those without a place", () => {
  const findings = ["a", "b", "c", "d", "e"].map((message) => ({ message, labels: [] }));
  assertEquals(describeDiagnostics(findings, ""), "a; b; c; and 2 more");
});

Deno.test("a failure has its place and does not quote the event", () => {
  const script = '.x = 1\n.y = parse_json!("SECRET")';
  const text = 'Termination;\nfunction call error for "parse_json" at (12:33): unable to parse json: SECRET';
  assertEquals(describeFailure(text, script), '"parse_json" failed at line 2, column 6');
  assertEquals(describeFailure("Termination;\naborted", script), "the script aborted");
  assertEquals(describeFailure("SECRET", script), "the script failed");
});
