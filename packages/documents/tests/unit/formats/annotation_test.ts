import { assertStringIncludes } from "@std/assert";
import { annotation } from "../../../src/formats/sections.ts";
import { renderElementMarkdown, renderElementText } from "@a2c-smcp/sdk";

Deno.test("the text of notes and comments is part of the Markdown and of the text of a page", () => {
  const text = `Say ${"hello ".repeat(200)}world.`;
  const { category, summary, content } = annotation("Notes of the speaker", { text, kind: "notes" });
  const element = { element_id: "p0-annotation-1", category, summary, content, page_index: 0 };
  for (const render of [renderElementMarkdown, renderElementText]) {
    assertStringIncludes(render(element as never), `Notes of the speaker: ${text}`);
  }
});
