import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { openFile, pagesOf } from "./_open.ts";

const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

function notebookOf(
  cells: readonly unknown[],
  metadata: object = { language_info: { name: "python" } },
): string {
  return JSON.stringify({ nbformat: 4, metadata, cells });
}

function codeCell(source: string, ...outputs: readonly unknown[]): unknown {
  return { cell_type: "code", source: [source], outputs };
}

Deno.test("a notebook has its text, its code and what the code gave", async () => {
  const notebook = notebookOf([
    { cell_type: "markdown", source: ["# Harvest\n", "\n", "Tons by **year**."] },
    codeCell("print(1)\nplot()", {
      output_type: "stream",
      name: "stdout",
      text: ["10%\r100%\n", "\x1b[31mdone\x1b[0m\n"],
    }, {
      output_type: "display_data",
      data: { "text/plain": ["<Figure>"], "image/gif": GIF },
    }),
    codeCell("frame", {
      output_type: "execute_result",
      data: {
        "text/html": ["<table><tr><th>year</th></tr>", "<tr><td>2026</td></tr></table>"],
        "text/plain": ["year"],
      },
    }),
    codeCell("1/0", {
      output_type: "error",
      ename: "E",
      evalue: "x",
      traceback: ["\x1b[0;31mZeroDivisionError\x1b[0m", "at 1"],
    }),
    codeCell("", { output_type: "display_data", data: { "application/vnd.jupyter.widget-view+json": {} } }),
    { cell_type: "raw", source: "raw text" },
  ], { language_info: { name: "python" }, authors: [{ name: "Ada" }] });
  const document = await openFile("a.ipynb", notebook);
  assertEquals(document.facts.title, "Harvest");
  assertEquals(document.facts.about, { author: "Ada" });
  assertEquals(document.facts.losses, [
    "1 part of a kind that is not read: application/vnd.jupyter.widget-view+json",
  ]);
  assertEquals(await pagesOf(document), [[
    "Harvest",
    ["p0-heading-1", { level: 1, text: "Harvest" }],
    ["p0-text-1", { text: "Tons by **year**." }],
    ["p0-code-1", { language: "python", code: "print(1)\nplot()" }],
    ["p0-code-2", { language: "output", code: "100%\ndone" }],
    ["p0-image-1", {
      description: "Output",
      mime_type: "image/gif",
      width: 1,
      height: 1,
      url: `data:image/gif;base64,${GIF}`,
    }],
    ["p0-code-3", { language: "python", code: "frame" }],
    ["p0-table-1", { headers: ["year"], rows: [["2026"]], total_rows: 1 }],
    ["p0-code-4", { language: "python", code: "1/0" }],
    ["p0-code-5", { language: "output", code: "ZeroDivisionError\nat 1" }],
    ["p0-code-6", { language: "text", code: "raw text" }],
  ]]);
});

Deno.test("pictures that are kept with a cell of a notebook are read", async () => {
  const attached = notebookOf([{
    cell_type: "markdown",
    source: "![Map](attachment:m%20p.gif)",
    attachments: { "m p.gif": { "image/gif": GIF } },
  }]);
  assertMatch(
    JSON.stringify(await pagesOf(await openFile("a.ipynb", attached))),
    /data:image\/gif;base64,R0lGOD/,
  );
});

Deno.test("a notebook that is none is refused", async () => {
  for (const content of ["{", "[]", '{"cells": 1}']) {
    const error = await assertRejects(() => openFile("a.ipynb", content), DocumentError);
    assertEquals(error.code, "damaged");
  }
  const odd =
    '{"cells": [null, 1, {}, {"cell_type": "code", "outputs": [{"data": {"image/png": "§"}}], "source": 1}]}';
  assertEquals((await pagesOf(await openFile("a.ipynb", odd))).length, 1);
});
