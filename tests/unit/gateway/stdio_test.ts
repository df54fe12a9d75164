import { assertEquals } from "@std/assert";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { inWholeLines } from "../../../src/gateway/stdio.ts";

/** What comes of each piece. */
async function passOn(pieces: readonly string[], maxBytes = 1_000): Promise<string[]> {
  const input = new PassThrough();
  const passed: string[] = [];
  inWholeLines(input, maxBytes).on("data", (chunk) => passed.push(String(chunk)));
  for (const piece of pieces) {
    input.write(piece);
    await setImmediate();
  }
  input.end();
  await setImmediate();
  return passed;
}

Deno.test("inWholeLines() passes on a line when its end has come, and keeps the beginning of the next", async () => {
  assertEquals(await passOn(["a", "b", "c\nd", "e\nf\ng"]), ["abc\n", "de\nf\n"]);
});

Deno.test("inWholeLines() passes on what is longer than a message, so that it is refused", async () => {
  assertEquals(await passOn(["ab", "cd", "ef", "\n"], 5), ["abcdef", "\n"]);
});
