import { assert, assertEquals } from "@std/assert";
import { unzipSync } from "fflate";
import { DocumentError } from "../../src/formats/format.ts";
import { type FileKind, kindNamed, kindOf } from "../../src/formats/kinds.ts";
import { ParserPool } from "../../src/parsing/pool.ts";
import { docxOf, pptxOf, xlsxOf, zipOf } from "../fixtures/office.ts";
import { pdfOf } from "../fixtures/pdf.ts";
import { Random } from "../../../../tests/fixtures/random.ts";
import { sized } from "../../../../tests/fixtures/test_size.ts";
import { within } from "../../../../tests/fixtures/within.ts";

const FILES = sized({ reduced: 200, full: 10_000 });
/** Of kinds that take a process for each file. */
const FILES_ALONE = sized({ reduced: 5, full: 500 });
/** How many bytes of a file change at most. */
const MAX_CHANGES = 12;

const utf8 = (text: string) => new TextEncoder().encode(text);

const fixture = (name: string) => Deno.readFileSync(new URL(`../fixtures/files/${name}`, import.meta.url));

/** A file of each kind that mutations begin with. */
const SEEDS: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  "a.pdf": pdfOf([{
    lines: [{ size: 10, x: 50, y: 700, text: "Hello" }],
    comments: ["Why"],
    hasPicture: true,
  }]),
  "a.docx": docxOf("<w:p><w:r><w:t>Hello</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>"),
  "a.xlsx": xlsxOf({
    One: '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>2</v></c></row></sheetData>',
  }, { texts: ["a"] }),
  "a.pptx": pptxOf([{ shapes: "<p:sp><p:txBody><a:p><a:r><a:t>Hello</a:t></a:r></a:p></p:txBody></p:sp>" }]),
  "a.odt": zipOf({
    "content.xml":
      "<a:document-content><a:body><a:text><t:h t:outline-level='1'>Hi</t:h><t:list><t:list-item><t:p>x</t:p></t:list-item>" +
      "</t:list><b:table><b:table-row><b:table-cell><t:p>1</t:p></b:table-cell></b:table-row></b:table></a:text></a:body></a:document-content>"
        .replace("<a:document-content", '<a:document-content xmlns:a="a" xmlns:b="b" xmlns:t="t"'),
  }),
  "a.rtf": utf8(
    "{\\rtf1{\\fonttbl{\\f0\\fcharset204 A;}}{\\listtext 1.\\tab}\\pard\\ls1 x{\\super 2}\\par\\trowd\\cellx1\\pard\\intbl a\\cell\\row" +
      '{\\field{\\*\\fldinst HYPERLINK "http://a.b"}{\\fldrslt b}}{\\footnote n}{\\pict\\pngblip 89504e47}\\par}',
  ),
  "a.epub": zipOf({
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>',
    "a.opf":
      '<package><manifest><item id="a" href="a.html"/></manifest><spine><itemref idref="a"/></spine></package>',
    "a.html": "<h1>Hi</h1><p>text <img src=a.gif></p>",
  }),
  "a.zip": zipOf({ "a.md": "# Hi", "b.csv": "a,b\n1,2\n", "c": "text" }),
  "a.ipynb": utf8(
    '{"cells": [{"cell_type": "markdown", "source": ["# Hi"]}, {"cell_type": "code", "source": "1", "outputs": ' +
      '[{"output_type": "display_data", "data": {"text/html": "<table><tr><td>1</table>"}}]}]}',
  ),
  "a.tex": utf8("\\title{A}\n\\begin{document}\n\\section{B {c}}\ntext\n\\begin{align}\nx\n\\end{align}\n"),
  "a.csv": utf8('name,amount\n"Smith, J.",7\nLee,12.5\n'),
  "a.md": utf8(
    "# Title\n\n- a\n  - b\n\n| a | b |\n| - | - |\n| 1 | [2](x) |\n\n```ts\ncode\n```\n> quote\n",
  ),
  "a.html": utf8(
    "<h1>Hi</h1><p>text <a href=x>b</a></p><ul><li>a<ul><li>b</ul></ul><table><tr><td>1</table>",
  ),
  "a.json": utf8('{"a": [{"b": 1}, {"b": 2}], "c": {"d": [1, null, "x"]}}'),
  "a.yaml": utf8("a: &x [1, 2]\nb: *x\n---\nc: |\n  text\n"),
  "a.txt": utf8("Title\n=====\n\n- a\n- b\n\n    code\n\nText\f\nPage"),
  "a.ts": utf8("/** A. */\nexport function a(): void {\n}\nclass B {}\n"),
  "a.eml": utf8(
    "From: a@b.c\nSubject: Hi\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>Hi</p>\n--x--\n",
  ),
  "a.svg": utf8('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"><title>A</title></svg>'),
  "a.doc": fixture("agreement.doc"),
  "a.xls": fixture("yields.xls"),
  "a.msg": await Deno.readFile(new URL("../fixtures/files/mail.msg", import.meta.url)),
  "a.gif": Uint8Array.from(
    atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    (c) => c.charCodeAt(0),
  ),
};

/** Flips, inserts and removes bytes, and cuts the file. */
function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  const list = [...bytes];
  for (let change = random.integer(1, MAX_CHANGES); change > 0; change--) {
    const at = random.below(list.length + 1);
    switch (random.below(5)) {
      case 0:
        list[at] = random.below(256);
        break;
      case 1:
        list.splice(at, 0, ...Array.from({ length: random.integer(1, 40) }, () => random.below(256)));
        break;
      case 2:
        list.splice(at, random.integer(1, 40));
        break;
      case 3:
        // Structures that repeat are what parsers nest.
        list.splice(at, 0, ...list.slice(random.below(list.length + 1)).slice(0, 200));
        break;
      default:
        if (random.once(8)) list.length = at;
    }
  }
  return Uint8Array.from(list, (byte) => byte ?? 0);
}

/** Changes a file; of an office file every second time one of its parts, which the mutation of a zip file seldom reaches. */
function mutate(seed: Uint8Array<ArrayBuffer>, random: Random): Uint8Array<ArrayBuffer> {
  const isZip = seed[0] === 0x50 && seed[1] === 0x4b;
  if (!isZip || random.once(2)) return mutateBytes(seed, random);
  const parts = unzipSync(seed);
  const names = Object.keys(parts);
  const name = names[random.below(names.length)] ?? "";
  return zipOf({ ...parts, [name]: mutateBytes(parts[name] ?? seed, random) });
}

for (const [fileName, seed] of Object.entries(SEEDS)) {
  const kind = kindOf(fileName);
  assert(kind !== undefined);
  Deno.test(`damaged files like ${fileName} are read or refused, and the next one is read`, async () => {
    await using pool = new ParserPool({
      processes: 1,
      timeMs: 60_000,
      maxMemoryBytes: 768 * 1024 * 1024,
      maxFileBytes: 1024 * 1024,
      maxUnpackedBytes: 64 * 1024 * 1024,
      maxPageBytes: 1024 * 1024,
      maxDepth: 200,
    });
    const read = async (key: string, bytes: Uint8Array<ArrayBuffer>, kind: FileKind) => {
      const file = { key, kind, fileName, bytes: () => Promise.resolve(bytes) };
      const { pageCount } = await pool.facts(file);
      const page = await pool.page(file, pageCount - 1);
      return page.elements.length;
    };
    const elements = await read("seed", seed.slice(), kind);
    const random = new Random(0x646f63);
    let refused = 0;
    const files = kindNamed(kind).isAlone === true ? FILES_ALONE : FILES;
    for (let count = 0; count < files; count++) {
      const bytes = mutate(seed, random);
      const outcome = await within(
        read(`${count}`, bytes, kind).catch((error: unknown) => error),
        () => `an answer to ${fileName} as changed by round ${count}`,
      );
      if (typeof outcome === "number") continue;
      assert(outcome instanceof DocumentError, `round ${count}: ${outcome}`);
      refused++;
    }
    // An inserted byte shifts all sectors of a compound file.
    assert(
      refused < files || kindNamed(kind).isAlone === true || files === 0,
      "every file was refused, so that nothing was tried",
    );
    assertEquals(await read("again", seed.slice(), kind), elements);
  });
}
