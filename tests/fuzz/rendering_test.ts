import { assert, assertEquals } from "@std/assert";
import { drawRead } from "../../src/cli/answers/read_picture.ts";
import { drawDesktop } from "../../src/cli/answers/desktop.ts";
import { drawFinder } from "../../src/cli/answers/finder.ts";
import { displayWidth } from "../../src/terminal/display_width.ts";
import { PLAIN } from "../../src/terminal/screen.ts";
import { printable } from "../../src/text/safe_text.ts";
import { toElement } from "../../src/dpe/content.ts";
import { renderElementMarkdown, renderPageMarkdown } from "../../src/dpe/markdown.ts";
import { renderElementText, renderPageText } from "../../src/dpe/text.ts";
import { type DPEElementDetail, ELEMENT_CATEGORIES } from "../../src/protocol/dpe.ts";
import { mutate, randomText } from "./_mutator.ts";
import { Random } from "../fixtures/random.ts";
import { sized } from "../fixtures/test_size.ts";
import fc from "../fixtures/fast_check.ts";

const RUNS = sized({ reduced: 10_000, full: 1_000_000 });

/** Sound content, a few kinds of it for each category. */
const CONTENTS: readonly Record<string, unknown>[] = [
  { level: 2, text: "Sales" },
  { ordered: true, start: 3, items: ["a", { text: "b", items: ["c", ["d"]] }] },
  { language: "ts", code: "let a;\n```" },
  { headers: ["Q", "n"], rows: [["Q1", 1], { Q: "Q2", n: null }], total_rows: 2 },
  { chart_type: "line", title: "T", data_summary: "D", description: "d", source: "a-->b" },
  { url: "https://h/a_(b).png", description: "cat", text: "link", expression: "E=mc^2", width: 3 },
  { title: "Order", fields: [{ name: "n", options: ["a"] }], style: "line", state: {} },
];

function randomElement(random: Random): DPEElementDetail {
  const category = random.pick(ELEMENT_CATEGORIES);
  const sound = { element_id: "e-1", category, summary: "What it is", content: random.pick(CONTENTS) };
  const content = random.once(5) ? sound.content : mutate(random, sound.content);
  // Strangers send what the types do not allow
  return (random.once(5) ? mutate(random, sound) : { ...sound, content }) as DPEElementDetail;
}

// proves: dpe-categories, dpe-markdown-other
Deno.test("Random elements are rendered as Markdown and as text, typed or not, and never throw", () => {
  const random = new Random(8);
  let typed = 0;
  let page: DPEElementDetail[] = [];
  for (let i = 0; i < RUNS; i++) {
    const element = randomElement(random);
    assertEquals(typeof renderElementMarkdown(element), "string");
    assertEquals(typeof renderElementText(element), "string");
    if (toElement(element) !== undefined) typed++;
    page.push(element);
    if (page.length < 20) continue;
    assertEquals(typeof renderPageMarkdown({ elements: page }), "string");
    assertEquals(typeof renderPageText({ elements: page }), "string");
    page = [];
  }
  // Mutants that are all unreadable would prove little
  assert(typed > RUNS / 10 && typed < RUNS * 9 / 10, `${typed} are typed`);
});

// proves: dpe-categories
Deno.test("An element that was typed once is typed as the same again", () => {
  const random = new Random(9);
  for (let i = 0; i < RUNS / 5; i++) {
    const element = toElement(randomElement(random));
    if (element !== undefined) assertEquals(toElement(element), element);
  }
});

Deno.test("Anything at all is rendered, typed or not", () => {
  const element = fc.record({ category: fc.constantFrom(...ELEMENT_CATEGORIES), content: fc.anything() });
  fc.assert(
    fc.property(fc.oneof(element, fc.anything()), (value) => {
      const element = value as DPEElementDetail;
      assertEquals([typeof renderElementMarkdown(element), typeof renderElementText(element)], [
        "string",
        "string",
      ]);
      toElement(element);
    }),
    { numRuns: sized({ reduced: 500, full: 50_000 }) },
  );
});

/** No line is wider than the terminal, and none could command it. */
function checkPicture(picture: string, columns: number): void {
  for (const line of picture.split("\n")) {
    assert(displayWidth(line) <= columns, JSON.stringify(line));
    assertEquals(printable(line), line);
  }
}

Deno.test("Pictures of random windows, documents and elements never command the terminal", () => {
  const random = new Random(11);
  const text = () => randomText(random);
  for (let i = 0; i < RUNS / 20; i++) {
    const columns = 30 + random.below(60);
    const screen = { columns, palette: PLAIN };
    checkPicture(drawDesktop([`${text()}\n\n${text()}`, text()], { ...screen, maxLines: 5 }), columns);
    const document = {
      doc_ref: "r",
      file_uri: text(),
      uri: text(),
      file_type: text(),
      title: text(),
      page_count: 3,
      keywords: [text()],
      summary: text(),
      server: text(),
      last_modified: text(),
    };
    const elements = [{ element_id: text(), category: text(), summary: text(), content: {} }];
    const page = { page_index: random.below(100), title: text(), element_count: 1, uri: "" };
    const branches = [{ document, pages: [{ page, elements, failure: text() }] }, {
      document,
      failure: text(),
    }];
    checkPicture(drawFinder(branches, { ...screen, offset: 0, totalCount: 9 }), columns);
    const element = randomElement(random);
    const json = JSON.stringify(element, (_, value) => typeof value === "bigint" ? `${value}` : value);
    const picture = drawRead("dpe://d/r/elements/e", { contents: [{ uri: "", text: json }] }, screen) ?? "";
    assertEquals(printable(picture), picture);
  }
});
