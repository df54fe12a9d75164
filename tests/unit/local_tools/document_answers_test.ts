import { assertEquals } from "@std/assert";
import { renderElementMarkdown, renderPageMarkdown } from "../../../src/dpe/markdown.ts";
import { type ReadableDocument, showDocument, toHitLine } from "../../../src/local_tools/document_answers.ts";
import type { DPEDocument, DPEElementDetail } from "../../../src/protocol/dpe.ts";

const heading = (text: string): DPEElementDetail => ({
  element_id: "h",
  category: "heading",
  content: { level: 1, text },
});
const words = (text: string): DPEElementDetail => ({ element_id: "t", category: "text", content: { text } });
const link = (text: string, url: string): DPEElementDetail => ({
  element_id: "l",
  category: "link",
  content: { text, url },
});

/** What is shown of pages with these titles and elements. */
async function shown(...pages: readonly (readonly [string, ...DPEElementDetail[]])[]): Promise<string> {
  const document = { title: "Plan", page_count: pages.length } as DPEDocument;
  const readable: ReadableDocument = {
    metadata: () => Promise.resolve(document),
    page: (index) => {
      const [title = "", ...elements] = pages[index] ?? [];
      const content_markdown = renderPageMarkdown({ elements });
      return Promise.resolve({ page_index: index, title, elements, content_markdown });
    },
    element: (id) => Promise.reject(new Error(renderElementMarkdown(heading(id)))),
  };
  const all = { pages: undefined, element: undefined, isOutline: false, offset: 0 };
  const { content: [item] } = await showDocument(readable, all, { format: "markdown", headOf: () => "" });
  return String(item?.["text"]);
}

Deno.test("a page has no heading that its text or the document says as well", async () => {
  assertEquals(await shown(["Plan", words("Go.")]), "```\nGo.\n```");
  assertEquals(await shown(["Goals", heading("Goals")]), "```\n# Goals\n```");
  assertEquals(
    await shown(["Plan", heading("Plan")], ["Page 2: Goals", words("Go.")]),
    "## Page 1 (index 0)\n\n```\n# Plan\n```\n\n## Page 2 (index 1): Goals\n\n```\nGo.\n```",
  );
});

Deno.test("a link that a text has is not shown a second time alone", async () => {
  const text = words("See [the plan](plan.md) and the rest.");
  assertEquals(
    await shown(["", text, link("the plan", "plan.md"), link("the rest", "rest.md")]),
    "```\nSee [the plan](plan.md) and the rest.\n\n[the rest](rest.md)\n```",
  );
  const code = {
    element_id: "c",
    category: "code",
    content: { code: "[the plan](plan.md)\n\n[the plan](plan.md)" },
  };
  assertEquals((await shown(["", text, code])).match(/the plan/g)?.length, 3);
});

Deno.test("a page is told by the number that people know it by, and by its index", () => {
  const lineOf = (page_index: number, title?: string) =>
    toHitLine({ page_index, title, snippet: "" }, "Plan");
  assertEquals([
    lineOf(0),
    lineOf(463, "Page 464: Plan"),
    lineOf(1, "Page ii"),
    lineOf(2, "Page 1: Goals"),
    lineOf(3, "Goals"),
  ], [
    "  page 1 (index 0)",
    "  page 464 (index 463)",
    "  page ii (index 1)",
    "  page 1 (index 2), Goals",
    "  page 4 (index 3), Goals",
  ]);
});
