import { assertEquals, assertRejects } from "@std/assert";
import { NoTerminalError } from "../../../../src/terminal/editor/line_editor.ts";
import { PipedEditor, readLines } from "../../../../src/terminal/editor/piped_editor.ts";

function stream(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return ReadableStream.from(
    chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : chunk),
  );
}

Deno.test("readLines() returns lines across chunks, the last one also without a line feed", async () => {
  const [first, second] = [new Uint8Array([0xe6, 0x95]), new Uint8Array([0xb0])];
  assertEquals(await Array.fromAsync(readLines(stream("one\r", "\ntw", "o\n\n", first, second))), [
    "one",
    "two",
    "",
    "数",
  ]);
  assertEquals(await Array.fromAsync(readLines(stream("one\n"))), ["one"]);
  assertEquals(await Array.fromAsync(readLines(stream())), []);
});

Deno.test("readLines() refuses lines that are too long", async () => {
  const endless = Array.from({ length: 3 }, () => "x".repeat(1 << 19));
  await assertRejects(() => Array.fromAsync(readLines(stream(...endless))), RangeError, "Cannot read");
});

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
  await assertRejects(() => editor.ask({ text: "tool x\nRun it?" }), NoTerminalError, why);
  await assertRejects(() => editor.choose({ text: "Run it?" }), NoTerminalError, why);
  using interruption = editor.listenForInterrupt();
  assertEquals(interruption.signal.aborted, false);
});
