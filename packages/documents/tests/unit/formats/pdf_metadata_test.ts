import { assertEquals } from "@std/assert";
import { ownText } from "../../../src/formats/pdf/metadata.ts";
import { pdfOf } from "../../fixtures/pdf.ts";
import { openFile } from "./_open.ts";

const PLACEHOLDERS = [
  ...[
    "untitled",
    "(untitled)",
    "Untitled-1",
    "Untitled Document 2",
    "unspecified",
    "anonymous",
    "(anonymous)",
    "none",
  ],
  ...[
    "Microsoft Word - x.doc",
    "Microsoft Word - Annual report",
    "Microsoft PowerPoint",
    "Microsoft Excel - 2026.xlsx",
  ],
  ...[
    "PowerPoint Presentation",
    "PowerPoint-Präsentation",
    "Présentation PowerPoint",
    "PowerPoint 演示文稿",
    "Slide 1",
  ],
  ...[
    "Folie 1",
    "幻灯片 1",
    "Document1",
    "Dokument2",
    "Presentation1",
    "文档1",
    "无标题",
    "report final.docx",
    "main.dvi",
  ],
  ...["C:\\Users\\ada\\x", "file:///home/ada/x.html", "/tmp/x/y", "\\\\server\\share\\x", "  ", ""],
];

const TITLES = [
  ...[
    "Annual report",
    "The Untitled Project",
    "Document management",
    "1984",
    "Slides of a landslide",
    "Microsoft",
  ],
  ...[
    "Unknown Pleasures",
    "Power and Point",
    "Either/or",
    "Node.js",
    "年度报告",
    "Ἰλιάς",
    "Anonymous functions in C++",
  ],
];

Deno.test("what programs write for a missing title is none", () => {
  assertEquals(PLACEHOLDERS.filter((text) => ownText(text) !== undefined), []);
  assertEquals(TITLES.filter((text) => ownText(text) !== text), []);
});

Deno.test("the title, summary and keywords of a PDF file have no placeholders", async () => {
  const line = { size: 10, x: 50, y: 700, text: "The harvest was good." };
  const info = "/Title (untitled) /Subject (unspecified) /Keywords (anonymous, wheat)";
  const { facts } = await openFile(
    "x.pdf",
    pdfOf([{ lines: [{ ...line, size: 20, y: 750, text: "Harvest" }, line] }], info),
  );
  assertEquals([facts.title, facts.opening, facts.keywords], ["Harvest", "The harvest was good.", ["wheat"]]);
});
