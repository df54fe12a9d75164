import { assertEquals } from "@std/assert";
import { fileRefOf } from "../../src/folder/tree.ts";
import { makeReport } from "../../src/report.ts";

const FACTS = { pageCount: 1, headings: [], opening: "", losses: [] };

Deno.test("keywords are what the author set, the name of the file, the headings, and frequent words", () => {
  const opening = "Revenue rose. The revenue of the region rose because exports rose.";
  const report = makeReport(
    { ...FACTS, keywords: ["finance"], headings: ["North  America"], opening },
    "a/Q3_budget-2026.pdf",
  );
  assertEquals(report.keywords, ["finance", "Q3 budget 2026", "North America", "rose", "revenue"]);
});

Deno.test("a summary is the first sentences, or else the headings", () => {
  const opening = `First sentence. Second sentence. ${"Third sentence is long. ".repeat(20)}`;
  assertEquals(
    makeReport({ ...FACTS, opening }, "a").summary?.startsWith("First sentence. Second sentence. Third"),
    true,
  );
  assertEquals((makeReport({ ...FACTS, opening }, "a").summary?.length ?? 0) <= 240, true);
  assertEquals(makeReport({ ...FACTS, headings: ["Sales", "Name"] }, "a").summary, "Sales, Name");
  assertEquals(makeReport(FACTS, "a").summary, undefined);
});

Deno.test("what a file says of itself is kept in one line each, and its authors are keywords", () => {
  const about = {
    author: "Ada Byron, Mary Somerville",
    created: "2026-01-15",
    description: "  First\ndraft ",
  };
  const report = makeReport({ ...FACTS, about: { ...about, language: "" } }, "a.pdf");
  assertEquals(report.about, { ...about, description: "First draft" });
  assertEquals(report.keywords, ["a", "Ada Byron", "Mary Somerville"]);
  assertEquals(makeReport({ ...FACTS, about: {} }, "a.pdf").about, undefined);
});

Deno.test("an outline that is too long loses its deepest levels", () => {
  const outline = Array.from({ length: 3_000 }, (_, page) => ({
    title: page % 3 === 0 ? "Chapter" : "Section",
    level: page % 3 === 0 ? 1 : 2,
    page,
  }));
  const { outline: kept = [] } = makeReport({ ...FACTS, pageCount: 3_000, outline }, "a.pdf");
  assertEquals([kept.length, kept[1]], [1_000, { title: "Chapter", level: 1, page: 3 }]);
  assertEquals(makeReport({ ...FACTS, outline }, "a.pdf").outline, undefined);
});

Deno.test("words of Chinese texts become keywords as well", () => {
  const { keywords } = makeReport({ ...FACTS, opening: "会议记录。会议讨论了预算，预算增加。" }, "a.txt");
  assertEquals(keywords.includes("预算"), true);
});

Deno.test("a doc_ref is the same for both normal forms of a name, and differs for each path", () => {
  assertEquals(fileRefOf("Résumé.pdf".normalize("NFD")), fileRefOf("Résumé.pdf".normalize("NFC")));
  assertEquals(new Set(["a/b.pdf", "b/b.pdf", "b.pdf", "B.pdf"].map(fileRefOf)).size, 4);
  assertEquals(/^b-pdf-[0-9a-f]{10}$/.test(fileRefOf("b.pdf")), true);
});
