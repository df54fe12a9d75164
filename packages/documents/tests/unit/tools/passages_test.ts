import { assertEquals } from "@std/assert";
import { passagesAround } from "../../../src/tools/passages.ts";

const TABLE = ["| Region | Year |", "| --- | --- |", "| East | 2024 |", "| East | 2025 |", "| West | 2025 |"];
const PAGE = [
  "# Yield",
  "",
  "Before it.",
  "",
  "The yield of East rose.",
  "",
  "After it.",
  "",
  "Else.",
  "",
  ...TABLE,
]
  .join("\n");

Deno.test("passagesAround() gives the row that has most of the words, under the names of its columns", () => {
  assertEquals(passagesAround(PAGE, "East 2025", 1_000), {
    text: [TABLE[0], TABLE[1], TABLE[3]].join("\n"),
    more: 0,
  });
});

Deno.test("passagesAround() counts the names of the columns for a row that has another of the words", () => {
  const { text } = passagesAround(PAGE, "region of West", 1_000);
  assertEquals(text, [TABLE[0], TABLE[1], TABLE[4]].join("\n"));
  assertEquals(passagesAround(PAGE, "region", 1_000).text, [TABLE[0], TABLE[1]].join("\n"));
});

Deno.test("passagesAround() gives a paragraph with those before and after it", () => {
  const { text } = passagesAround(PAGE, "yields of the east", 1_000);
  assertEquals(text, "Before it.\nThe yield of East rose.\nAfter it.");
});

Deno.test("passagesAround() tells how many lines had no room, and shows one at least", () => {
  const rows = Array.from({ length: 90 }, (_, index) => `| East | ${index} |`);
  const page = ["| a | b |", "| --- | --- |", ...rows].join("\n");
  assertEquals(passagesAround(page, "East", 1), {
    text: [...page.split("\n").slice(0, 3)].join("\n"),
    more: 89,
  });
  assertEquals(passagesAround(page, "East", 1_000_000).more, 50);
});

Deno.test("passagesAround() marks what is left out between paragraphs, and finds nothing in other words", () => {
  const page = ["apples one", "b", "c", "d", "apples two"].join("\n\n");
  assertEquals(passagesAround(page, "apple", 1_000).text, "apples one\nb\n…\nd\napples two");
  assertEquals(passagesAround(page, "pears", 1_000), { text: "", more: 0 });
});
