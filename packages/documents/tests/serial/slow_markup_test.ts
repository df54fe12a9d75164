/** Attacker: whoever may write into a folder of documents. A text in light markup is to hold up its reader */
import { assert } from "@std/assert";
import { cpuUsage } from "node:process";
import { openFile } from "../unit/formats/_open.ts";

/** The processor time of this process: other programs take the time of a clock. */
function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}

Deno.test("hostile markup takes a time that grows with its length alone", async () => {
  const count = 50_000;
  const files: readonly (readonly [string, string])[] = [
    ["a.rst", "== ==\nx\n".repeat(count)],
    ["a.rst", `${"+-".repeat(count)}+\n${"| x\n".repeat(count)}`],
    ["a.rst", `${"= ".repeat(count)}\n${"x\n".repeat(count)}${"= ".repeat(count)}\n`],
    ["a.rst", `${" ".repeat(10 * count)}x ${" ".repeat(10 * count)}::`],
    ["a.org", `*${" ".repeat(10 * count)}\n`.repeat(2)],
    ["a.org", Array.from({ length: 300 }, (_, n) => `${" ".repeat(n)}- x\n`).join("").repeat(20)],
  ];
  for (const [name, text] of files) {
    const startMs = cpuMs();
    await openFile(name, text);
    const ms = cpuMs() - startMs;
    assert(ms < 4_000, `${text.slice(0, 30)} took ${ms} ms`);
  }
});
