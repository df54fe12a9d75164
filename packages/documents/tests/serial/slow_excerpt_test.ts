/** Attacker: whoever may write into a folder of documents. A page of many words of a query is to hold up all clients */
import { assert, assertEquals } from "@std/assert";
import { cpuUsage } from "node:process";
import { excerptOf } from "../../src/search/excerpt.ts";
import { passagesAround } from "../../src/tools/passages.ts";

/** The processor time of this process: other programs take the time of a clock. */
function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}

Deno.test("a page that has the words of a query without end costs no more than to look at it", () => {
  const letters = [..."abcdefghijklmnop"];
  const words = letters.flatMap((one) => letters.slice(0, 4).map((other) => `w${one}${other}q`));
  const text = `${words.join(" ")} `.repeat(3_000);
  const terms = words.map((term) => ({ term, isPrefix: true }));
  const startMs = cpuMs();
  const { elementId } = excerptOf({
    title: "Words",
    elements: [{ category: "text", elementId: "p0-text-1", content: { text } }],
  }, terms);
  const ms = cpuMs() - startMs;
  assertEquals(elementId, "p0-text-1");
  assert(ms < 600, `It took ${ms} ms`);
});

Deno.test("what is around words on a page of a megabyte costs little time, and is no longer than an answer", () => {
  const pages = ["果园的水管理由第组负责每月检查一次".repeat(60_000), "tray über\n".repeat(100_000)];
  for (const page of pages) {
    const startMs = cpuMs();
    const { text } = passagesAround(page, "tray mapping 果园管理", 4_000);
    const ms = cpuMs() - startMs;
    assert(text.length > 0 && text.length < 10_000, `${text.length} characters`);
    assert(ms < 600, `It took ${ms} ms`);
  }
});
