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

Deno.test("words of Chinese texts become keywords as well", () => {
  const { keywords } = makeReport({ ...FACTS, opening: "会议记录。会议讨论了预算，预算增加。" }, "a.txt");
  assertEquals(keywords.includes("预算"), true);
});

Deno.test("a doc_ref is the same for both normal forms of a name, and differs for each path", () => {
  assertEquals(fileRefOf("Résumé.pdf".normalize("NFD")), fileRefOf("Résumé.pdf".normalize("NFC")));
  assertEquals(new Set(["a/b.pdf", "b/b.pdf", "b.pdf", "B.pdf"].map(fileRefOf)).size, 4);
  assertEquals(/^b-pdf-[0-9a-f]{10}$/.test(fileRefOf("b.pdf")), true);
});
