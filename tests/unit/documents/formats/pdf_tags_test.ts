import { assertEquals } from "@std/assert";
import type { TextItem } from "../../../../src/documents/formats/pdf/lines.ts";
import {
  type StructureNode,
  TaggedTexts,
  toTaggedElements,
} from "../../../../src/documents/formats/pdf/tags.ts";

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
  return toTaggedElements(root, new TaggedTexts(texts), 100).map(({ content }) => content);
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
