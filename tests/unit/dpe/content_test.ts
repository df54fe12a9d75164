import { assertEquals } from "@std/assert";
import { toElement } from "../../../src/dpe/content.ts";
import { ELEMENT_CATEGORIES, type ElementCategory } from "../../../src/protocol/dpe.ts";
import type { DPEElement, ElementContents } from "../../../src/protocol/dpe_content.ts";

/** Content of each category, with every member that its shape names. */
const samples: ElementContents = {
  text: { text: "one\n\ntwo" },
  heading: { level: 2, text: "Sales" },
  list: { ordered: true, start: 3, items: ["a", { text: "b", ordered: false, items: ["c"] }] },
  code: { language: "ts", code: "let a;" },
  table: { headers: ["Q"], rows: [["1", 2, true, null]], total_rows: 4, total_columns: 4 },
  pivot_table: {
    headers: ["Q"],
    rows: [["1"]],
    row_fields: ["Q"],
    column_fields: [],
    value_fields: ["SUM(sales)"],
  },
  chart: { chart_type: "bar", title: "T", data_summary: "D" },
  diagram: { diagram_type: "flowchart", title: "T", description: "D", source: "a-->b" },
  image: { description: "cat", url: "https://h/a.png", mime_type: "image/png", width: 2, height: 1 },
  formula: { expression: "=1+1", result: 2 },
  link: { text: "Deno", url: "https://deno.com" },
  annotation: { text: "why?", author: "ada", created_at: "2026-01-15", target_id: "tbl-1" },
  header: { text: "top" },
  footer: { text: "bottom" },
  separator: { style: "page-break" },
  audio: { url: "https://h/a.mp3", title: "T", description: "D", mime_type: "audio/mpeg", duration: 1.5 },
  video: { url: "https://h/a.mp4" },
  form: {
    title: "Order",
    fields: [{ name: "n", label: "N", type: "select", value: "a", required: true, options: ["a"] }],
  },
  widget: { widget_type: "slider", title: "Volume", state: 7 },
};

function read(category: string, content: Record<string, unknown>): unknown {
  return toElement({ element_id: "e", category, content })?.content;
}

// proves: dpe-categories
Deno.test("Each of the 19 categories has a shape, and toElement() keeps content of that shape", () => {
  assertEquals(Object.keys(samples).sort(), [...ELEMENT_CATEGORIES].sort());
  for (const category of ELEMENT_CATEGORIES) {
    assertEquals<unknown>(read(category, samples[category]), samples[category]);
  }
});

// proves: dpe-categories
Deno.test("A category that is none of the 19 has no type", () => {
  assertEquals(read("hologram", {}), undefined);
  assertEquals(read("__proto__", {}), undefined);
});

// proves: data-dpe-element
Deno.test("toElement() keeps the rest of the element, and members that the shape does not name", () => {
  const element = {
    element_id: "e",
    category: "text",
    content: { text: "t", font: "serif" },
    page_index: 3,
    metadata: { a: 1 },
  };
  assertEquals(toElement(element), element as DPEElement);
});

// proves: dpe-categories
Deno.test("toElement() leaves out optional members of a wrong type", () => {
  assertEquals(read("code", { code: "a", language: 5 }), { code: "a" });
  assertEquals(read("list", { items: ["a"], ordered: "yes", start: -1 }), { items: ["a"] });
  assertEquals(read("table", { headers: ["h"], rows: [], total_rows: NaN }), { headers: ["h"], rows: [] });
  assertEquals(read("separator", { style: {} }), {});
  assertEquals(read("form", { fields: [{ label: "no name" }, "f", { name: "n", required: 1 }] }), {
    fields: [{ name: "n" }],
  });
});

// proves: dpe-categories
Deno.test("toElement() reads other words for a member, rows that are objects, and values that are JSON", () => {
  assertEquals(read("image", { src: "a.png", alt: "cat" }), {
    src: "a.png",
    alt: "cat",
    url: "a.png",
    description: "cat",
  });
  assertEquals(read("link", { text: "t", href: "/x" }), { text: "t", href: "/x", url: "/x" });
  assertEquals(read("list", { children: [["a"], { text: "b", children: [1] }] }), {
    items: [{ text: "", items: ["a"] }, { text: "b", items: ["1"] }],
  });
  assertEquals(read("table", { headers: ["a", 2], rows: [{ a: { b: 1 }, 2: "x", c: "dropped" }] }), {
    headers: ["a", "2"],
    rows: [['{"b":1}', "x"]],
  });
});

// proves: dpe-categories
Deno.test("toElement() has no type for content that lacks what its category must have", () => {
  const required: Partial<Record<ElementCategory, Record<string, unknown>>> = {
    text: {},
    heading: { level: 1 },
    list: { items: [] },
    code: {},
    table: { headers: ["h"] },
    pivot_table: { rows: [] },
    chart: { title: "T" },
    image: { width: 3 },
    formula: {},
    link: { text: "t" },
    annotation: { author: "ada" },
    header: {},
    footer: { text: 1 },
    form: { title: "T" },
  };
  for (const [category, content] of Object.entries(required)) {
    assertEquals(read(category, content), undefined, category);
  }
});
