import { assertEquals } from "@std/assert";
import type { TextItem } from "../../../src/formats/pdf/lines.ts";
import { type StructureNode, toTaggedElements } from "../../../src/formats/pdf/tags.ts";

/** A node with marked contents, by their ids, and other nodes in it. */
function node(role: string, children: readonly (string | StructureNode)[], alt?: string): StructureNode {
  return {
    role,
    ...(alt === undefined ? {} : { alt }),
    children: children.map((child) => typeof child === "string" ? { type: "content", id: child } : child),
  };
}

/** The contents of a structure tree. Each marked content has its id as text. */
function contentsOf(root: StructureNode, ids: readonly string[]): unknown[] {
  const texts = new Map<string, readonly TextItem[]>();
  for (const [index, str] of ids.entries()) {
    const transform = [10, 0, 0, 10, 50 + index * 30, 700];
    texts.set(str, [{ str, dir: "ltr", transform, width: 20, height: 10, fontName: "f", hasEOL: false }]);
  }
  const byLook = (items: readonly TextItem[]) =>
    items.map(({ str }) => ({ category: "text" as const, content: { text: str } }));
  return toTaggedElements(root, texts, { maxDepth: 100, byLook }).elements.map((
    { content },
  ) => content);
}

Deno.test("a marked content of a PDF file that several tags name is shown once", () => {
  const root = node("Document", [node("P", ["one", node("Figure", ["two"])]), node("P", ["one"])]);
  assertEquals(contentsOf(root, ["one", "two"]), [{ text: "one two" }]);
});

Deno.test("an empty description of a PDF file hides no text of a figure or a formula", () => {
  const root = node("Document", [
    node("Figure", ["one"], ""),
    node("Formula", ["two"], ""),
    node("Formula", []),
  ]);
  assertEquals(contentsOf(root, ["one", "two"]), [{ description: "one" }, { expression: "two" }]);
});

const TREES: readonly (readonly [tree: StructureNode, contents: readonly unknown[]])[] = [
  [node("P", ["a", node("P", ["b"]), node("P", ["c"]), "d"]), ["a", "b", "c", "d"].map((text) => ({ text }))],
  [node("Sect", ["a", node("Div", [node("H2", ["b"]), "c"]), "d"]), [
    { text: "a" },
    { level: 2, text: "b" },
    { text: "c" },
    { text: "d" },
  ]],
  [node("P", ["a", node("L", [node("LI", [node("Lbl", ["b"]), node("LBody", ["c"])])])]), [{ text: "a" }, {
    items: ["b c"],
  }]],
  [node("Document", [node("LI", ["a"]), node("LI", ["b"]), node("P", ["c"])]), [{ items: ["a", "b"] }, {
    text: "c",
  }]],
  [
    node("Sect", [
      node("TR", [node("TH", ["a"]), node("TH", ["b"])]),
      node("TR", [node("TD", ["c"]), node("TD", ["d"])]),
    ]),
    [
      { headers: ["a", "b"], rows: [["c", "d"]], total_rows: 1 },
    ],
  ],
  [
    node("Table", [
      node("Caption", [node("P", ["a"])]),
      node("TBody", [node("TR", [node("TD", ["b"]), node("TD", ["c"])])]),
    ]),
    [
      { text: "a" },
      { headers: [], rows: [["b", "c"]], total_rows: 1 },
    ],
  ],
  [node("Table", [node("P", ["a"]), "b"]), [{ text: "a" }, { text: "b" }]],
  [node("P", ["a", node("Note", [node("Lbl", ["b"]), node("P", ["c"])]), "d"]), [{ text: "a d" }, {
    text: "b c",
  }]],
  [node("Figure", ["a", node("Caption", ["b"])], "A nut"), [{ description: "A nut" }, { text: "a" }, {
    text: "b",
  }]],
  [node("Figure", [node("P", ["a"])]), [{ text: "a" }]],
  [node("P", ["a", node("Figure", ["b"], "A nut"), "c"]), [{ text: "a b c" }, { description: "A nut" }]],
];

Deno.test("each block in the tags of a PDF file is an element of its own, and no text is lost", () => {
  for (const [tree, contents] of TREES) {
    assertEquals(contentsOf(tree, ["a", "b", "c", "d"]), contents);
  }
});
