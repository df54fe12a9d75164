import { assertEquals } from "@std/assert";
import { outlineWithin, renderOutline } from "@a2c-smcp/sdk/base";
import { labelRanges } from "../../../src/formats/pdf/outline.ts";
import { HEADER, manualPdf, STEPS, TEXT } from "../../fixtures/manual.ts";
import { pdfOf } from "../../fixtures/pdf.ts";
import { openFile } from "./_open.ts";

Deno.test("pages of a PDF file have the names that its outline gives them", async () => {
  const { facts, page } = await openFile("manual.pdf", manualPdf());
  const titles = await Promise.all([0, 3, 20, 463].map(async (index) => (await page(index)).title));
  assertEquals(titles, [
    "Page 1: Chapter 1; Section 1.1 of it",
    "Page 4: Section 1.1 of it (continued)",
    "Page 21: Section 2.2 of it; Section 2.3 of it; Step 1; Step 2; Step 3; Step 4; Step 5; Step 6",
    "Page 464: Step 6 (continued)",
  ]);
  assertEquals(facts.headings.slice(0, 2), ["Chapter 1", "Chapter 2"]);
});

Deno.test("the index of a PDF file of 464 pages has at most 3,000 tokens, and that of a chapter has all of it", async () => {
  const { facts } = await openFile("manual.pdf", manualPdf());
  const whole = outlineWithin(facts.outline ?? [], { first: 0, last: 463 });
  assertEquals([facts.outline?.length, whole.length, renderOutline(whole).length <= 8_000], [754, 232, true]);
  assertEquals(
    renderOutline(outlineWithin(facts.outline ?? [], { first: 16, last: 20 })),
    ["16: Chapter 2", "  16: Section 2.1 of it", "  20: Section 2.2 of it", "  20: Section 2.3 of it"]
      .concat(STEPS.map(({ title }) => `    20: ${title}`)).join("\n"),
  );
});

Deno.test("pages before the first entry of an outline are named by their headings, and without any by a number", async () => {
  const pages = [{ lines: [HEADER] }, { lines: [TEXT] }, {
    lines: [TEXT],
    sections: [{ title: "One", level: 1 }],
  }];
  const labels = "/PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >>";
  const { facts, page } = await openFile("manual.pdf", pdfOf(pages, "", labels));
  const titles = await Promise.all([0, 1, 2].map(async (index) => (await page(index)).title));
  assertEquals(titles, ["Page i: Printer manual", "Page ii", "Page 1: One"]);
  assertEquals(facts.about?.pageLabels, "i–ii, 1");
});

Deno.test("a damaged outline names no page", async () => {
  const outline = "/Outlines 99 0 R";
  const { facts, page } = await openFile("x.pdf", pdfOf([{ lines: [HEADER, TEXT] }], "", outline));
  assertEquals([facts.outline, (await page(0)).title], [[], "Page 1: Printer manual"]);
});

Deno.test("what a PDF file says of itself is known, without what programs write by themselves", async () => {
  const info =
    "/Author (Ada Byron) /CreationDate (D:20260115093000+01'00') /ModDate (D:20260203) /Subject (Untitled)";
  const { facts } = await openFile("x.pdf", pdfOf([{ lines: [TEXT] }], info, "/Lang (en-GB)"));
  assertEquals(facts.about, {
    author: "Ada Byron",
    created: "2026-01-15T08:30:00Z",
    changed: "2026-02-03T00:00:00Z",
    language: "en-GB",
  });
});

Deno.test("labels of pages are told by their ranges, and not where they count from 1", () => {
  assertEquals(labelRanges(["1", "2", "3"]), undefined);
  assertEquals(
    labelRanges(["Cover", "i", "ii", "iii", "1", "2", "A-1", "A-2", "1"]),
    "Cover, i–iii, 1–2, A-1–A-2, 1",
  );
  assertEquals(labelRanges(["", ""]), undefined);
});

Deno.test("what stands above many pages names none of them", async () => {
  const chapter = (text: string) => ({ size: 16, x: 50, y: 720, text });
  const pages = Array.from({ length: 12 }, (_, page) => ({
    lines: [HEADER, ...(page % 3 === 0 ? [chapter(`About field ${page}`)] : []), TEXT],
  }));
  const { page } = await openFile("a.pdf", pdfOf(pages));
  const titles = await Promise.all([0, 1, 6].map(async (index) => (await page(index)).title));
  assertEquals(titles, ["Page 1: Printer manual", "Page 2", "Page 7: About field 6"]);
});
