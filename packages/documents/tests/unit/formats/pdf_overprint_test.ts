import { assertEquals } from "@std/assert";
import { type PdfLine, pdfOf } from "../../fixtures/pdf.ts";
import { openFile } from "./_open.ts";

/** The widths of letters of Helvetica, in thousandths of their height. */
const WIDTHS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries({
    ijl: 222,
    "tf.,: ": 278,
    r: 333,
    ckvsxyz: 500,
    FTZ: 611,
    ABPSEV: 667,
    Hw: 722,
    O: 778,
    m: 833,
    W: 944,
  })
    .flatMap(([letters, width]) => [...letters].map((letter) => [letter, width])),
);

function widthOf(text: string, size: number): number {
  return [...text].reduce((sum, letter) => sum + (WIDTHS[letter] ?? 556) * size / 1_000, 0);
}

interface Copies {
  readonly size?: number;
  readonly count?: number;
  readonly dx?: number;
  readonly dy?: number;
}

/** Each part of a line several times, before the next part. */
function drawn(parts: readonly string[], { size = 12, count = 2, dx = 0, dy = 0 }: Copies = {}): PdfLine[] {
  let x = 50;
  return parts.flatMap((text) => {
    const start = x;
    x += widthOf(text, size);
    return Array.from(
      { length: count },
      (_, at) => ({ size, x: start + at * dx, y: 700 + at * dy, text: text.trim() }),
    );
  }).filter(({ text }) => text !== "");
}

async function textOf(lines: readonly PdfLine[], isSideways = false): Promise<string> {
  const document = await openFile("x.pdf", pdfOf([{ lines, isSideways }]));
  const { elements } = await document.page(0);
  return elements.map(({ content }) => "text" in content ? content.text : JSON.stringify(content)).join("\n");
}

const words = (text: string) => text.split(/(?<= )/);

const TWICE: readonly (readonly [text: string, lines: readonly PdfLine[]])[] = [
  ["Overdue", drawn(["Overdue"])],
  ["Bold heading of it", drawn(["Bold heading of it"], { dx: 0.3 })],
  ["A shadow", drawn(["A shadow"], { size: 24, dx: 1.5, dy: -1.5 })],
  ["Four times", drawn(["Four times"], { count: 4, dx: 0.2 })],
  ["Total amount due 1122", drawn(words("Total amount due 1122"), { dx: 0.25 })],
  ["Word by word, three times", drawn(words("Word by word, three times"), { count: 3, dx: 0.25 })],
  ["Hello hopeful bookkeeper 1122 aa", drawn([..."Hello hopeful bookkeeper 1122 aa"], { dx: 0.3 })],
  ["Pilot Hilly", drawn([..."Pilot Hilly"], { dx: 0.3 })],
  ["Same place", drawn([..."Same place"])],
  ["Shadow of letters", drawn([..."Shadow of letters"], { size: 20, dx: 0.8, dy: -0.8 })],
  [
    "First\nSecond",
    [0, 0.2].flatMap((dx) => [
      { size: 12, x: 50 + dx, y: 700, text: "First" },
      { size: 12, x: 50 + dx, y: 660, text: "Second" },
    ]),
  ],
];

Deno.test("a text of a PDF page that is drawn again at nearly the same place counts once", async () => {
  for (const [text, lines] of TWICE) {
    assertEquals(await textOf(lines), text);
    assertEquals(await textOf(lines, true), text);
  }
});

Deno.test("Chinese letters that are drawn several times count once", async () => {
  const copies = [0, 0.2, 0.4].map((dx) => ({
    size: 10,
    x: 50 + dx,
    y: 700,
    text: "",
    gbk: "B2E2CAD4B2E2CAD4",
  }));
  assertEquals(await textOf(copies), "测试测试");
});

Deno.test("texts of a PDF page that are the same beside or below each other stay", async () => {
  const once = (text: string, size = 12) => drawn([...text], { count: 1, size });
  for (
    const text of ["11 oo illicit bookkeeper 1122 ....... lll", "ha ha ha had had", "Zoom zoom 00:00:00"]
  ) {
    assertEquals(await textOf(once(text)), text);
    assertEquals(await textOf(drawn(words(text), { count: 1 })), text);
  }
  const cells = [700, 686, 672].flatMap((y) =>
    [50, 75, 100, 125].map((x) => ({ size: 10, x, y, text: "12.5" }))
  );
  const row = ["12.5", "12.5", "12.5", "12.5"];
  assertEquals(JSON.parse(await textOf(cells)), { headers: row, rows: [row, row], total_rows: 2 });
});
