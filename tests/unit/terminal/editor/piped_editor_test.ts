import { assertEquals, assertRejects } from "@std/assert";
import { ask, NoTerminalError } from "../../../../src/terminal/editor/line_editor.ts";
import { PipedEditor } from "../../../../src/terminal/editor/piped_editor.ts";

function stream(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return ReadableStream.from(
    chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : chunk),
  );
}

Deno.test("a piped editor reads lines until the end", async () => {
  await using editor = new PipedEditor(stream("status\nquit"));
  assertEquals([await editor.read(), await editor.read(), await editor.read()], [
    "status",
    "quit",
    undefined,
  ]);
});

Deno.test("a piped editor stops reading when its signal is aborted", async () => {
  await using editor = new PipedEditor(new ReadableStream());
  const controller = new AbortController();
  const line = editor.read({ signal: controller.signal });
  controller.abort();
  assertEquals(await line, undefined);
  assertEquals(await editor.read({ signal: controller.signal }), undefined);
});

Deno.test("a piped editor refuses questions", async () => {
  await using editor = new PipedEditor(stream());
  const why = `Cannot ask "Run it?": standard input is not a terminal`;
  await assertRejects(() => ask(editor, { text: "tool x\nRun it?" }), NoTerminalError, why);
  using interruption = editor.listenForInterrupt();
  assertEquals(interruption.signal.aborted, false);
});
