import { assert, assertEquals, assertMatch } from "@std/assert";
import { renderElementMarkdown, renderPageMarkdown } from "../../../../src/dpe/markdown.ts";
import { renderElementText, renderPageText } from "../../../../src/dpe/text.ts";
import type { DPEElementDetail, DPEPage } from "../../../../src/protocol/dpe.ts";
import { makeBuiltins } from "../../../../src/agent/toolkit/builtins/all.ts";
import { withElementIds } from "../../../../src/local_tools/pictures.ts";
import type { McpContent } from "../../../../src/local_tools/mcp.ts";
import { OfficeView } from "../../../../src/agent/toolkit/office_view.ts";
import { FakeOffice } from "../../gateway/_fake_office.ts";

const never = new AbortController().signal;
const PIXEL = "iVBORw0KGgo=";

function picture(id: string, members: Record<string, unknown> = {}): DPEElementDetail {
  const content = { description: "A bridge", url: `data:image/png;base64,${PIXEL}`, ...members };
  return { element_id: id, category: "image", content };
}

const text = (id: string, words: string): DPEElementDetail => ({
  element_id: id,
  category: "text",
  content: { text: words },
});

/** Reads a document of these pages. */
async function read(
  pages: readonly Partial<DPEPage>[],
  args: Record<string, unknown> = {},
): Promise<McpContent[]> {
  const whole = pages.map((page, page_index) => {
    const { elements = [] } = page;
    const rendered = {
      content_markdown: renderPageMarkdown({ elements }),
      content_text: renderPageText({ elements }),
    };
    return { page_index, title: "", elements, ...rendered, ...page };
  });
  const all = whole.flatMap(({ elements }) => elements);
  const office = new FakeOffice(["desk"], {
    readDocumentMetadata: () =>
      Promise.resolve(
        { title: "Plan", file_type: "pdf", page_count: pages.length, uri: "dpe://h/d" } as never,
      ),
    readPage: (_uri, page) => Promise.resolve(whole[page] as never),
    readElement: (_uri, id) => {
      const element = all.find(({ element_id }) => element_id === id);
      return Promise.resolve(
        { ...element, content_markdown: renderElementMarkdown(element as never) } as never,
      );
    },
  });
  using view = new OfficeView();
  await view.follow(office);
  const tool = makeBuiltins({ view }).find(({ definition }) => definition.name === "read_document");
  const result = await tool?.run({ uri: "dpe://h/d", ...args }, { signal: never });
  return [...result?.content ?? []];
}

const typesOf = (content: readonly McpContent[]) => content.map(({ type }) => type);
const textOf = (content: readonly McpContent[]) => content.map((item) => item["text"] ?? "").join("\n");

Deno.test("read_document shows the pictures of pages under the ids of their elements, in every format", async () => {
  for (const format of ["markdown", "text", "json"]) {
    const content = await read([{
      title: "Sales",
      elements: [text("p0-text-1", "before"), picture("p0-image-1")],
    }], {
      format,
    });
    assertEquals(typesOf(content), ["text", "text", "image"]);
    assertEquals(content[2], { type: "image", data: PIXEL, mimeType: "image/png" });
    assertMatch(
      textOf(content),
      /## Page 1 \(index 0\): .?Sales[\s\S]*p0-image-1[\s\S]*Picture .?p0-image-1/,
    );
    assertEquals(textOf(content).includes(PIXEL), false);
    if (format !== "json") assertMatch(textOf(content), /\[picture p0-image-1: A bridge\]/);
  }
});

Deno.test("read_document shows the picture of a single element", async () => {
  const content = await read([{ elements: [picture("p0-image-1"), picture("p0-image-2")] }], {
    element: "p0-image-2",
  });
  assertEquals(typesOf(content), ["text", "text", "image"]);
  assertMatch(textOf(content), /\[picture p0-image-2: A bridge\]/);
});

Deno.test("read_document names the pictures that it does not show, and how to see them", async () => {
  const many = Array.from({ length: 10 }, (_, index) => picture(`p0-image-${index}`));
  const content = await read([{ elements: many }]);
  assertEquals(typesOf(content).filter((type) => type === "image").length, 8);
  assertMatch(
    textOf(content),
    /not shown: .?p0-image-8.?, .?p0-image-9.?; read one with the argument "element"/,
  );
  const large = picture("large", { url: `data:image/png;base64,${"A".repeat(6_000_000)}` });
  assertMatch(textOf(await read([{ elements: [large] }])), /too large to show/);
  const vector = picture("vector", { url: "data:image/svg+xml,%3Csvg/%3E" });
  assertMatch(textOf(await read([{ elements: [vector] }])), /vector.*image\/svg\+xml.* cannot be shown/);
  const crowd = Array.from(
    { length: 20_000 },
    (_, index) => picture(`p${index}`, { url: `data:${"x".repeat(500)};base64,AA==` }),
  );
  assert(textOf(await read([{ elements: crowd }])).length < 50_000);
  const linked = await read([{ elements: [picture("linked", { url: "https://a.example/b.png" })] }]);
  assertEquals(typesOf(linked), ["text"]);
});

Deno.test("read_document shows the pictures of the part of a page that it shows", async () => {
  const elements = [picture("first"), text("long", "x".repeat(50_000)), picture("last")];
  const begin = await read([{ elements }]);
  assertEquals([begin.length, begin.at(-2)?.["text"]], [3, "Picture first:"]);
  const rest = await read([{ elements }], { pages: "0", offset: 30_000 });
  assertEquals([rest.length, rest.at(-2)?.["text"]], [3, "Picture last:"]);
});

/** Elements, and how a model is shown them in Markdown. */
const SHOWN: readonly (readonly [DPEElementDetail, string])[] = [
  [picture("p0-image-1"), "[picture p0-image-1: A bridge]"],
  [picture("p0-image-1", { description: "" }), "[picture p0-image-1]"],
  [picture("p0-image-1", { description: "a [b]\nc" }), "[picture p0-image-1: a \\[b\\] c]"],
  [picture("i", { url: "https://a.example/b.png" }), "![A bridge](https://a.example/b.png)"],
  [
    { element_id: "p0-chart-1", category: "chart", content: { title: "Sales", data_summary: "They rose" } },
    "[chart p0-chart-1: Sales] They rose",
  ],
  [
    { element_id: "p0-annotation-1", category: "annotation", content: { text: "No" } },
    "[annotation p0-annotation-1: No]",
  ],
  [{ element_id: "x", category: "unheard", content: {}, summary: "s" }, "[unheard x: s]"],
  [text("p0-text-1", "[图片: A bridge]"), "[图片: A bridge]"],
  [{ element_id: "l", category: "link", content: { text: "a", url: "b" } }, "[a](b)"],
];

Deno.test("withElementIds() names the elements of placeholders, and nothing else", () => {
  for (const [element, wanted] of SHOWN) {
    const elements = [element];
    assertEquals(withElementIds(renderPageMarkdown({ elements }), elements, renderElementMarkdown), wanted);
  }
  const elements = [picture("a"), text("t", "between"), picture("b")];
  assertEquals(
    withElementIds(renderPageText({ elements }), elements, renderElementText),
    "[picture a: A bridge]\n\nbetween\n\n[picture b: A bridge]",
  );
});

Deno.test("withElementIds() names elements at the end of a text that has no placeholders of them", () => {
  const elements = Array.from({ length: 1_000 }, (_, index) => picture(`i${index}`));
  const named = withElementIds("# As the server wrote it", elements, renderElementMarkdown);
  assertMatch(named, /^# As the server wrote it\n\n\[picture i0: A bridge\]\n\n/);
  assertEquals(named.split("\n\n").length, 51);
});
