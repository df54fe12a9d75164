import { assert, assertEquals } from "@std/assert";
import { alignColumns, drawBox, drawTree } from "../../../src/terminal/shapes.ts";
import { displayWidth } from "../../../src/terminal/display_width.ts";
import { COLORS, PLAIN } from "../../../src/terminal/screen.ts";

const palette = PLAIN;

function picture(lines: readonly string[]): string {
  return `\n${lines.join("\n")}\n`;
}

Deno.test("alignColumns() aligns columns two spaces apart, with wide characters", () => {
  const rows = [["年度报告", "xlsx", "1"], ["a", "pdf", "12"], ["b"], ["c", "", "3"]];
  assertEquals(
    picture(alignColumns(rows, { right: [2] })),
    `
年度报告  xlsx   1
a         pdf   12
b
c                3
`,
  );
});

Deno.test("alignColumns() crops the flexible column first, then the widest", () => {
  const rows = [["id-1", "a summary that is too long", "7"]];
  assertEquals(alignColumns(rows, { width: 25, flexible: 1 }), ["id-1  a summary that…   7"]);
  assertEquals(alignColumns([["identifier-one", "another-long", "x"]], { width: 23, flexible: 1 }), [
    "identifie…  another…  x",
  ]);
  for (const width of [3, 10, 20]) {
    for (const line of alignColumns(rows, { width })) assert(displayWidth(line) <= Math.max(width, 7));
  }
});

Deno.test("drawBox() draws the title in the edge and the lines inside, at the given width", () => {
  const box = { title: "window://a", lines: ["服务", "ok"], footer: "3 more lines" };
  assertEquals(
    `\n${drawBox(box, { width: 24, palette })}\n`,
    `
╭─ window://a ─────────╮
│ 服务                 │
│ ok                   │
╰─ 3 more lines ───────╯
`,
  );
  const long = drawBox({ title: "window://".padEnd(50, "x"), lines: ["y".repeat(50)] }, {
    width: 20,
    palette,
  });
  assertEquals(long.split("\n").map(displayWidth), [20, 20, 20]);
});

Deno.test("drawTree() connects branches to their parents", () => {
  const tree = drawTree([
    {
      line: "a",
      details: ["about a"],
      branches: [{ line: "a1", branches: [{ line: "deep" }] }, { line: "a2" }],
    },
    { line: "b", details: ["about b"] },
  ], palette);
  assertEquals(
    picture(tree),
    `
├─ a
│  │ about a
│  ├─ a1
│  │  └─ deep
│  └─ a2
└─ b
     about b
`,
  );
});

Deno.test("colors change nothing else in a drawing", () => {
  const draw = (palette: typeof PLAIN) =>
    [
      drawBox({ title: "t", lines: ["l"] }, { width: 12, palette }),
      ...drawTree([{ line: "a", details: ["d"], branches: [{ line: "b" }] }], palette),
      palette.accent(""),
    ].join("\n");
  // deno-lint-ignore no-control-regex -- colours are what is taken out
  assertEquals(draw(COLORS).replace(/\u001b\[\d+m/g, ""), draw(PLAIN));
});
