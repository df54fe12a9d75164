/** Attacker: whoever may write into a folder of documents. A page of many words of a query is to hold up all clients */
import { assert, assertEquals } from "@std/assert";
import { cpuUsage } from "node:process";
import { excerptOf } from "../../src/search/excerpt.ts";

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
