// The examples of docs/protocol/finder.md through our types, parsers and renderers.

import { assertEquals } from "@std/assert";
import { toElement } from "../../../src/dpe/content.ts";
import { renderElementMarkdown, renderPageMarkdown } from "../../../src/dpe/markdown.ts";
import { renderPageText } from "../../../src/dpe/text.ts";
import type { DPECatalogue, DPEDocument, DPEElementDetail, DPEPage } from "../../../src/protocol/dpe.ts";
import { parseDpeDocument, parseDpeElement, parseDpePage } from "../../../src/protocol/dpe_answers.ts";
import { readExamples } from "../../fixtures/protocol_examples.ts";

const examples = new Map((await readExamples("finder.md")).map(({ heading, text }) => [heading, text]));
const catalogue: DPECatalogue = exampleOf("Level 0: catalogue");
const document: DPEDocument = exampleOf("Level 1: document");
const page: DPEPage = exampleOf("Level 2: page");
const detail: DPEElementDetail = exampleOf("Level 3: element");

// proves: dpe-content-level-0, dpe-content-metadata
Deno.test("The documents of the catalogue are read as they stand, without a page index", () => {
  assertEquals<unknown>(catalogue.documents.map((entry) => parseDpeDocument(entry)), catalogue.documents);
  assertEquals(catalogue.total_count, catalogue.documents.length);
  assertEquals(catalogue.documents.filter((entry) => "pages" in entry), []);
});

// proves: dpe-content-pages
Deno.test("The document is read as it stands, with its page index", () => {
  assertEquals(parseDpeDocument(document), document);
  const { pages, page_offset, page_limit, page_total } = document;
  assertEquals([pages?.length, page_offset, page_limit, page_total], [2, 0, 2, 12]);
});

// proves: dpe-content-level-2
Deno.test("The page is read as it stands, and all of its elements are typed", () => {
  assertEquals(parseDpePage(page), page);
  assertEquals<unknown>(page.elements.map(toElement), page.elements);
  assertEquals(page.element_count, page.elements.length);
});

// proves: dpe-markdown-heading, dpe-markdown-text, dpe-markdown-table, dpe-markdown-chart
Deno.test("The page is rendered by the rules for Markdown", () => {
  assertEquals(
    renderPageMarkdown(page),
    `# The year 2026

Revenue grew in all four quarters.

| Quarter | Revenue | Change |
| --- | --- | --- |
| Q1 | 1,250 | +12% |
| Q2 | 1,380 | +15% |

[图表: Revenue] Rises from quarter to quarter`,
  );
  assertEquals(renderPageText(page).split("\n")[4], "Quarter\tRevenue\tChange");
});

// proves: dpe-content-level-3
Deno.test("The element is read as it stands, its metadata included", () => {
  assertEquals(parseDpeElement(detail), detail);
  assertEquals<unknown>(toElement(detail), detail);
  assertEquals(renderElementMarkdown(detail).split("\n").length, 4);
});

function exampleOf<T>(heading: string): T {
  return JSON.parse(examples.get(heading) ?? "null");
}
