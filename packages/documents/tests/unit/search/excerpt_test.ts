import { assertEquals } from "@std/assert";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { excerptOf } from "../../../src/search/excerpt.ts";
import { toTerms } from "../../../src/search/found_words.ts";

const heading = (elementId: string, text: string): DocumentElement => ({
  category: "heading",
  elementId,
  content: { level: 1, text },
});
const text = (elementId: string, text: string): DocumentElement => ({
  category: "text",
  elementId,
  content: { text },
});

Deno.test("excerptOf() prefers what stands below a heading to the heading, and counts the words of the heading for it", () => {
  const elements = [
    heading("h1", "PCL tray mapping"),
    text("t1", "The paper has a tray."),
    text("t2", "For mapping, set tray 4 to PCL value 14."),
    heading("h2", "Care"),
    text("t3", "A tray of any value."),
  ];
  const found = (query: string) => excerptOf({ title: "Page", elements }, toTerms(query)).elementId;
  assertEquals(found("PCL tray mapping"), "t2");
  assertEquals(found("PCL mapping value"), "t2");
  assertEquals(found("care"), "h2");
});

Deno.test("excerptOf() gives the row that answers, and not the heading of its sheet", () => {
  const table: DocumentElement = {
    category: "table",
    elementId: "t1",
    content: { headers: ["Region", "Year"], rows: [["East", 2024], ["East", 2025]], total_rows: 2 },
  };
  const page = { title: "Yields", elements: [heading("h1", "Yields of the East"), table] };
  assertEquals(excerptOf(page, toTerms("yield East 2025")), {
    elementId: "t1",
    snippet: "Region | Year\nEast | 2025",
  });
});
