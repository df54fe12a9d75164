import { assertEquals } from "@std/assert";
import { addRendering, withoutElements } from "../../../../src/computer/resources/rendering.ts";
import { parseDpeUri } from "../../../../src/uri/dpe_uri.ts";

const heading = { element_id: "h", category: "heading", content: { level: 1, text: "Hi" } };
const page = { page_index: 0, title: "p", elements: [heading] };

/** The JSON that a server's answer becomes. */
function render(uri: string, body: unknown): unknown {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const [item] = addRendering([{ uri, text }], parseDpeUri(uri));
  return item?.text?.startsWith("{") ? JSON.parse(item.text) : item?.text;
}

Deno.test("markdown and text are added to a page and to an element", () => {
  assertEquals(render("dpe://d/x/pages/0?format=markdown", page), { ...page, content_markdown: "# Hi" });
  assertEquals(render("dpe://d/x/elements/h?format=text", heading), { ...heading, content_text: "Hi" });
});

Deno.test("what the server wrote itself is kept, also with format=markdown answered as Markdown", () => {
  const own = { ...page, content_markdown: "its own" };
  assertEquals(render("dpe://d/x/pages/0?format=markdown", own), own);
  assertEquals(render("dpe://d/x/pages/0?format=markdown", "# its own"), "# its own");
});

Deno.test("JSON is asked for by default, and Levels 0 and 1 have one format", () => {
  assertEquals(render("dpe://d/x/pages/0", page), page);
  assertEquals(render("dpe://d/x/pages/0?format=json", page), page);
  assertEquals(render("dpe://d/x?format=markdown", page), page);
  assertEquals(render("dpe://d?format=text", page), page);
});

Deno.test("what is no page or element passes as it is", () => {
  for (const body of [{}, { elements: 1 }, "[1]"]) {
    assertEquals(render("dpe://d/x/pages/0?format=text", body), body);
  }
  const blob = [{ uri: "x", blob: "AA==" }];
  assertEquals(addRendering(blob, parseDpeUri("dpe://d/x/pages/0?format=text")), blob);
});

Deno.test("elements that are not asked for beside a rendered text are left out", () => {
  const shorten = (uri: string, body: object) => {
    const [item] = withoutElements([{ uri, text: JSON.stringify(body) }], parseDpeUri(uri));
    return JSON.parse(item?.text ?? "");
  };
  const image = { element_id: "i", category: "image", content: { url: "data:image/png;base64,AA==" } };
  const shown = { ...page, elements: [heading, image], content_markdown: "# Hi" };
  const at = "dpe://d/x/pages/0?format=markdown";
  assertEquals(shorten(`${at}&elements=none`, shown), { ...shown, elements: [] });
  assertEquals(shorten(`${at}&elements=image`, shown), { ...shown, elements: [image] });
  assertEquals(shorten(at, shown), shown);
  assertEquals(shorten("dpe://d/x/pages/0?elements=none", page), page);
  const rendered = { ...heading, metadata: { a: 1 }, content_markdown: "# Hi" };
  const { metadata: _, ...rest } = rendered;
  const element = "dpe://d/x/elements/h?format=markdown";
  assertEquals(shorten(`${element}&elements=none`, rendered), { ...rest, content: {} });
  assertEquals(shorten(`${element}&elements=heading`, rendered), rendered);
});
