import { assertEquals } from "@std/assert";
import { outlineWithin, renderOutline } from "../../../src/dpe/outline.ts";

const ALL = { first: 0, last: 9_999 };

/** The most tokens that tokenizers made of real outlines: one for four letters, and 2.8 for each line. */
function tokensOf(entries: ReturnType<typeof outlineWithin>): number {
  return renderOutline(entries).length / 4 + 2.8 * entries.length;
}

/** A manual of 20 chapters with 8 sections each, of which every second one has 4 parts. */
const MANUAL = Array.from({ length: 20 }, (_, chapter) => {
  const section = (number: number) => {
    const page = chapter * 24 + number * 3;
    const parts = Array.from({ length: number % 2 * 4 }, (_, part) => ({
      title: `Part ${chapter + 1}.${number}.${part + 1} of the manual`,
      level: 3,
      page,
    }));
    return [{ title: `Section ${chapter + 1}.${number}`, level: 2, page }, ...parts];
  };
  return [
    { title: `Chapter ${chapter + 1}`, level: 1, page: chapter * 24 },
    ...Array.from({ length: 8 }, (_, number) => section(number)).flat(),
  ];
}).flat();

Deno.test("an outline has as many levels as there is room for, and counts what is below them", () => {
  const two = outlineWithin(MANUAL, ALL);
  assertEquals(two.length, 180);
  assertEquals(tokensOf(two) <= 3_000, true);
  assertEquals(
    renderOutline(two.slice(0, 3)),
    "0: Chapter 1\n  0: Section 1.0\n  3: Section 1.1 [4 sections]",
  );
  const one = outlineWithin(MANUAL, ALL, 300);
  assertEquals(one.length, 20);
  assertEquals(one[1], { title: "Chapter 2", level: 1, page_index: 24, section_count: 24 });
});

Deno.test("the outline of some pages has what begins there, from the highest of its levels on", () => {
  const within = outlineWithin(MANUAL, { first: 27, last: 30 });
  assertEquals(
    renderOutline(within),
    "27: Section 2.1\n" + [1, 2, 3, 4].map((part) => `  27: Part 2.1.${part} of the manual`).join("\n") +
      "\n30: Section 2.2",
  );
  assertEquals(outlineWithin(MANUAL, { first: 28, last: 29 }), []);
});

Deno.test("neighbours become one entry where the highest level alone has no room", () => {
  const flat = Array.from({ length: 900 }, (_, page) => ({ title: `Slide ${page + 1}`, level: 1, page }));
  const entries = outlineWithin(flat, ALL, 800);
  assertEquals(tokensOf(entries) <= 800, true);
  assertEquals(entries[1], { title: "Slide 17 … Slide 32", level: 1, page_index: 16, section_count: 16 });
});

Deno.test("an outline with one entry above all others leads to these", () => {
  const sections = Array.from({ length: 900 }, (_, page) => ({ title: `Section ${page}`, level: 2, page }));
  const entries = outlineWithin([{ title: "Book", level: 1, page: 0 }, ...sections], ALL);
  assertEquals(tokensOf(entries) <= 3_000, true);
  assertEquals(entries[1]?.title, "Section 4 … Section 8");
});
