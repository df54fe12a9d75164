/** Proves that what is longer than a page is continued on the next one, and that nothing is lost. */
import { assert, assertEquals } from "@std/assert";
import { cutAtLines, divide } from "../../../src/formats/sections.ts";
import type { ElementContent, ListContent, TableContent } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";

/** The contents of all pages, which are of the same category. */
function contentsOf<T extends ElementContent>(element: DocumentElement & { readonly content: T }): T[] {
  const pages = divide([element], { title: "long" });
  for (const page of pages) assert(JSON.stringify(page).length < 100_000, page.title);
  assert(pages.length > 1);
  return pages.flatMap(({ elements }) => elements.map(({ content }) => content as T));
}

Deno.test("a long table is continued, and each part says its first row and the number of all rows", () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => [`row ${n}`, n]);
  const contents = contentsOf<TableContent>({
    category: "table",
    content: { headers: ["name", "number"], rows },
  });
  assertEquals(contents.flatMap((content) => content.rows), rows);
  let next = 1;
  for (const content of contents) {
    assertEquals(content, {
      headers: ["name", "number"],
      rows: content.rows,
      total_rows: 10_000,
      first_row: next,
    });
    next += content.rows.length;
  }
});

Deno.test("a long list is continued with the next number", () => {
  const items = Array.from({ length: 10_000 }, (_, n) => `item ${n}`);
  const contents = contentsOf<ListContent>({ category: "list", content: { ordered: true, items } });
  let next = 1;
  for (const content of contents) {
    assertEquals(content, {
      ordered: true,
      ...(next === 1 ? {} : { start: next }),
      items: items.slice(next - 1, next - 1 + content.items.length),
    });
    next += content.items.length;
  }
  assertEquals(next, 10_001);
});

Deno.test("cutAtLines() cuts no character in half", () => {
  const text = "😀".repeat(10);
  const pieces = [...cutAtLines(text, 5)];
  assertEquals(pieces.join(""), text);
  assert(pieces.every((piece) => piece.isWellFormed() && piece.length <= 5));
});
