import { assertEquals } from "@std/assert";
import { type PdfLine, pdfOf } from "../../fixtures/pdf.ts";
import { openFile } from "./_open.ts";

/** The distance of the lines of a cell, and of the rows beyond it, in points. */
const [LEADING, PADDING] = [12, 4];

/** A cell: its left edge and its lines. */
type TestCell = readonly [x: number, ...lines: readonly string[]];

/** Rows below each other, cell by cell as programs write them. */
function rowsOf(
  rows: readonly (readonly TestCell[])[],
  { top = 700, place = 0 }: { readonly top?: number; readonly place?: number } = {},
): PdfLine[] {
  const lines: PdfLine[] = [];
  let y = top;
  for (const cells of rows) {
    const height = Math.max(...cells.map(([, ...texts]) => texts.length));
    for (const [x, ...texts] of cells) {
      const first = y - (height - texts.length) * place * LEADING;
      lines.push(...texts.map((text, index) => ({ size: 10, x, y: first - index * LEADING, text })));
    }
    y -= height * LEADING + PADDING;
  }
  return lines;
}

/** Texts below each other. */
function column(x: number, top: number, texts: readonly string[]): PdfLine[] {
  return texts.map((text, index) => ({ size: 10, x, y: top - index * LEADING, text }));
}

/** What the first page has: the texts, the items of lists, and the rows of tables. */
async function contentOf(lines: readonly PdfLine[]): Promise<unknown[]> {
  const document = await openFile("tables.pdf", pdfOf([{ lines }]));
  const { elements } = await document.page(0);
  return elements.map(({ category, content }) =>
    category === "table"
      ? [content.headers, ...content.rows]
      : category === "list"
      ? content.items
      : "text" in content
      ? content.text
      : category
  );
}

const TOOLS: readonly (readonly TestCell[])[] = [
  [[50, "Tool"], [150, "What it is for"], [350, "Price"]],
  [[50, "Hammer of", "the smith"], [150, "Driving nails into wood,", "and pulling them out", "again"], [
    350,
    "12",
  ]],
  [[50, "Saw"], [150, "Cutting wood"], [350, "8"]],
  [[50, "File for", "iron"], [150, "Making edges smooth"], [350, "5"]],
];
const TOOLS_READ = [
  ["Tool", "What it is for", "Price"],
  ["Hammer of the smith", "Driving nails into wood, and pulling them out again", "12"],
  ["Saw", "Cutting wood", "8"],
  ["File for iron", "Making edges smooth", "5"],
];

for (const [alignment, place] of [["top", 0], ["middle", 0.5], ["bottom", 1]] as const) {
  Deno.test(`a table of a PDF page without drawn lines has cells of several lines at the ${alignment} of their rows`, async () => {
    const around = {
      before: column(50, 760, ["These are the tools that the shop sells, with the prices of this year."]),
    };
    const after = column(50, 520, ["Ask the smith for others, which are not in the list of the shop."]);
    assertEquals(await contentOf([...around.before, ...rowsOf(TOOLS, { place }), ...after]), [
      "These are the tools that the shop sells, with the prices of this year.",
      TOOLS_READ,
      "Ask the smith for others, which are not in the list of the shop.",
    ]);
  });
}

Deno.test("a table of a PDF page that is written line by line has cells of several lines", async () => {
  const lines = rowsOf(TOOLS).sort((one, other) => other.y - one.y || one.x - other.x);
  assertEquals(await contentOf(lines), [TOOLS_READ]);
});

Deno.test("a table of a PDF page has cells of several lines that are written after all the others", async () => {
  const lines = rowsOf(TOOLS);
  const isLong = ({ x, y }: PdfLine) =>
    lines.filter((line) => line.x === x && Math.abs(line.y - y) <= LEADING).length > 1;
  const [long, short] = [lines.filter(isLong), lines.filter((line) => !isLong(line))];
  assertEquals(await contentOf([...short, ...long]), [TOOLS_READ]);
});

Deno.test("a table of a PDF page has names in the middle of columns that they do not touch", async () => {
  const rows = rowsOf([
    [[100, "Name"], [265, "Use"], [380, "Price"]],
    [[50, "Oil"], [200, "Wheels", "and locks"], [420, "7"]],
    [[50, "Wax"], [200, "Floors"], [420, "9"]],
    [[50, "Lime"], [200, "Walls"], [420, "4"]],
  ]);
  assertEquals(await contentOf(rows), [[
    ["Name", "Use", "Price"],
    ["Oil", "Wheels and locks", "7"],
    ["Wax", "Floors", "9"],
    ["Lime", "Walls", "4"],
  ]]);
});

Deno.test("columns of a PDF page are told from words where the gap between them is that of a wide space", async () => {
  // Numbers end at 100, and texts begin at 105; a digit of Helvetica is 5.56 points wide.
  const row = (
    number: string,
    text: string,
  ): readonly TestCell[] => [[100 - number.length * 5.56, number], [105, text]];
  const rows = rowsOf([row("1200", "Nails of iron"), row("75", "Screws of brass"), row("310", "Hooks")]);
  assertEquals(await contentOf(rows), [[["1200", "Nails of iron"], ["75", "Screws of brass"], [
    "310",
    "Hooks",
  ]]]);
});

Deno.test("two columns of prose of a PDF page that is written line by line are read one after the other", async () => {
  const left = [
    "The harvest of the year was",
    "larger than that of any other",
    "year, though the summer had",
    "been dry until August.",
  ];
  const right = [
    "Nobody had built a barn, so",
    "that the corn lay in the open",
    "until the carts of the",
    "neighbors came for it.",
  ];
  const lines = left.flatMap((text, index) => [
    ...column(50, 700 - index * LEADING, [text]),
    ...column(320, 700 - index * LEADING, [right[index] ?? ""]),
  ]);
  assertEquals((await contentOf(lines)).join(" "), [...left, ...right].join(" "));
});

Deno.test("entries of a table of contents and lines of a form of a PDF page are paragraphs", async () => {
  const contents = rowsOf(["Sowing", "Harvest", "Sale"].map((title, index) => [
    [50, `${index + 1}.1`],
    [80, title],
    [150, ". . . . . . . . . ."],
    [300, `${index + 2}`],
  ]));
  assertEquals(await contentOf(contents), [
    "1.1 Sowing . . . . . . . . . . 2",
    "2.1 Harvest . . . . . . . . . . 3",
    "3.1 Sale . . . . . . . . . . 4",
  ]);
  const form = rowsOf(
    [["Name", "Date"], ["Street", "Town"], ["Phone", "Mail"]].map(([left = "", right = ""]) => [
      [50, left],
      [100, "________"],
      [250, right],
      [300, "________"],
    ]),
  );
  assertEquals((await contentOf(form)).filter(Array.isArray), []);
});

Deno.test("numbered notes of a PDF page are no table", async () => {
  const notes = rowsOf([
    [[50, "1"], [65, "The barn has been sold in the", "year after."]],
    [[50, "2"], [65, "The carts were lent."]],
    [[50, "3"], [65, "Nobody knows the price of the", "corn."]],
  ]);
  assertEquals((await contentOf(notes)).filter(Array.isArray), []);
});

Deno.test("justified lines of a PDF page are no table", async () => {
  // A digit is as wide as each other, so that all lines begin and end below each other.
  const line = (y: number, [first, second]: readonly [number, number]): PdfLine[] => [
    { size: 10, x: 50, y, text: "1111" },
    { size: 10, x: first, y, text: "222" },
    { size: 10, x: second, y, text: "3333" },
  ];
  const lines = [
    ...line(700, [92, 130]),
    ...line(688, [95, 130]),
    ...line(676, [90, 130]),
    ...line(664, [94, 130]),
  ];
  assertEquals((await contentOf(lines)).filter(Array.isArray), []);
});

const NEXT = ["The next paragraph is as wide as", "the page allows, and ends here."];

Deno.test("a paragraph after a list of a PDF page is no part of its last item", async () => {
  const intro = ["Three things are needed, and more", "of them are welcome:"];
  for (
    const { name, items } of [
      {
        name: "hanging",
        items: [[50, "-"], [62, "a hammer with a long"], [62, "handle"], [50, "-"], [62, "a saw"]],
      },
      {
        name: "flat",
        items: [[50, "- a hammer with a long handle and"], [50, "a head of iron"], [50, "- a saw"]],
      },
    ] as const
  ) {
    const lines = column(50, 700, intro);
    let y = 700 - intro.length * LEADING + LEADING;
    for (const [x, text] of items) {
      if (x === 50) y -= LEADING;
      if (x === 62 && lines.at(-1)?.text !== "-") y -= LEADING;
      lines.push({ size: 10, x, y, text });
    }
    const content = await contentOf([...lines, ...column(50, y - LEADING, NEXT)]);
    assertEquals(content.map(Array.isArray), [false, true, false], name);
    assertEquals(content.at(-1), NEXT.join(" "), name);
  }
});

Deno.test("a PDF page with thousands of texts that nearly are a table loses none of them", async () => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `t${index}`);
  // Cells as tall as those of a table may be, of which each second row has other columns. PDF.js leaves out what is not on the page.
  const lines = texts.map((text, index) => {
    const [row, cell] = [Math.floor(index / (29 * 39)), Math.floor(index / 29) % 39];
    return { size: 1, x: 50 + cell * 5 + row % 2 * 2.5, y: 780 - row * 36 - index % 29 * 1.2, text };
  });
  const words = (await contentOf(lines)).join(" ").match(/t\d+/g) ?? [];
  assertEquals(words.toSorted(), texts.toSorted());
});

const STORY = [
  "The left column tells of the harvest",
  "of the year and of all that was done",
  "by the farmers to bring it in before",
  "the rain came, which was early then,",
  "and of the prices that they had for",
  "it at the market of the small town.",
  "Nobody knows who came to the market",
  "and who did not, since most of them",
  "have never told it to their children",
  "or to anybody else who asked them so",
  "that it is not known to this day and",
  "will not be known to anybody at all.",
];
const ALLOWANCES = [["Period", "Allowance"], ["Weekly", "71.15"], ["Monthly", "308.33"], [
  "Quarterly",
  "925.00",
], ["Annually", "3,700.00"]];

Deno.test("columns of a PDF page that is written from the top to the bottom through both are read one after the other", async () => {
  const other = [
    "In the other column a story of the",
    "mill and of the river stands above",
    "a table, which is read as a table:",
  ];
  const end = ["after which the story of the mill", "goes on for some lines, and ends."];
  for (const shift of [0, 4]) {
    const cells = ALLOWANCES.flatMap(([name = "", value = ""], row) => {
      const y = 700 - shift - 40 - row * 14;
      return [{ size: 10, x: 305, y, text: name }, { size: 10, x: 450, y, text: value }];
    });
    const lines = [
      ...column(50, 700, STORY),
      ...column(300, 700 - shift, other),
      ...cells,
      ...column(300, 700 - shift - 40 - 5 * 14 - 4, end),
    ].sort((one, next) => next.y - one.y || one.x - next.x);
    assertEquals(await contentOf(lines), [STORY.join(" "), other.join(" "), ALLOWANCES, end.join(" ")]);
  }
});

Deno.test("the sign of a currency of a PDF table is in the cell of its number, and its last row stays beside the next column", async () => {
  const amounts = [["Weekly", "$", "71.15"], ["Monthly", "", "308.33"], ["Yearly", "$", "3,700.00"]];
  const cells = amounts.flatMap(([name = "", sign = "", value = ""], row) =>
    [[50, name], [200, sign], [270 - value.length * 5, value]].filter(([, text]) => text !== "").map((
      [x, text],
    ) => ({
      size: 10,
      x: Number(x),
      y: 700 - row * 14,
      text: `${text}`,
    }))
  );
  const note = { size: 8, x: 50, y: 652, text: "The amounts are those of a month of four weeks" };
  const next = column(330, 740, ["The next column of the page", "begins above the whole table."]);
  assertEquals(await contentOf([...cells, note, ...next]), [
    amounts.map(([name, sign, value]) => [name, sign === "" ? value : `${sign} ${value}`]),
    note.text,
    next.map(({ text }) => text).join(" "),
  ]);
});
