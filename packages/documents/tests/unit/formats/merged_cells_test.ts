import { assertEquals } from "@std/assert";
import {
  COVERED_FROM_ABOVE as UP,
  COVERED_FROM_LEFT as LEFT,
  mergedRanges,
} from "../../../src/formats/merged_cells.ts";
import { docxOf, pptxOf } from "../../fixtures/office.ts";
import { openFile } from "./_open.ts";

/** The first table of a file: its names of columns, its rows, and its merged ranges. */
async function tableOf(fileName: string, content: string | Uint8Array<ArrayBuffer>): Promise<unknown> {
  const { elements } = await (await openFile(fileName, content)).page(0);
  const table = elements.find(({ category }) => category === "table")?.content as Record<string, unknown>;
  return [table["headers"], table["rows"], table["merged_ranges"]];
}

Deno.test("merged cells are told by their ranges, and those without any are not", () => {
  assertEquals(mergedRanges([["a", LEFT, LEFT], ["b", "c", LEFT], [UP, UP, UP]]), [
    "A1:C1",
    "A2:A3",
    "B2:C3",
  ]);
  assertEquals(mergedRanges([["a", null], [LEFT, UP]]), ["B1:B2"]);
  assertEquals(mergedRanges([["a", ""], ["b", null]]), []);
});

Deno.test("the JSON of tables of HTML, Word and PowerPoint tells which cells are merged", async () => {
  const html =
    "<table><tr><th>Region<th colspan=2>Yield</tr><tr><td rowspan=2>East<td>1<td>2</tr><tr><td>3<td></tr></table>";
  const expected = [["Region", "Yield", ""], [["East", "1", "2"], [null, "3", ""]], ["B1:C1", "A2:A3"]];
  assertEquals(await tableOf("a.html", html), expected);

  const cell = (text: string, properties = "") =>
    `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const row = (...cells: readonly string[]) => `<w:tr>${cells.join("")}</w:tr>`;
  const word = docxOf(
    "<w:tbl>" + row(cell("Region"), cell("Yield", '<w:gridSpan w:val="2"/>')) +
      row(cell("East", '<w:vMerge w:val="restart"/>'), cell("1"), cell("2")) +
      row(cell("", "<w:vMerge/>"), cell("3"), cell("")) + "</w:tbl>",
  );
  assertEquals(await tableOf("a.docx", word), [
    [],
    [["Region", "Yield", null], ...expected[1] ?? []],
    expected[2],
  ]);

  const slideCell = (text: string, merge = "") =>
    `<a:tc ${merge}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const slide = (rows: string) =>
    `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>${rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  const rows = [
    [slideCell("Region"), slideCell("Yield", 'gridSpan="2"'), slideCell("", 'hMerge="1"')],
    [slideCell("East", 'rowSpan="2"'), slideCell("1"), slideCell("2")],
    [slideCell("", 'vMerge="1"'), slideCell("3"), slideCell("")],
  ];
  const deck = pptxOf([{ shapes: slide(rows.map((cells) => `<a:tr>${cells.join("")}</a:tr>`).join("")) }]);
  assertEquals(await tableOf("a.pptx", deck), expected);
});
