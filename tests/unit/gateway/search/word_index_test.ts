import { assertEquals } from "@std/assert";
import { type Found, rankByWords } from "../../../../src/gateway/search/word_index.ts";

function found(title: string, about: Partial<Found> = {}): Found {
  return { id: title, title, keywords: "", text: "", isMatch: true, ...about };
}

async function titles(query: string, all: readonly Found[]): Promise<string[]> {
  return (await rankByWords(query, all)).map(({ title }) => title);
}

Deno.test("rankByWords() puts a word in the title before one in the keywords or the text", async () => {
  const all = [
    found("Notes", { text: "the budget of the year" }),
    found("Plan", { keywords: "budget" }),
    found("Budgets"),
  ];
  assertEquals(await titles("what is our budget?", all), ["Budgets", "Plan", "Notes"]);
});

Deno.test("rankByWords() keeps what a Computer has found behind all that has a word, and drops other windows", async () => {
  const all = [found("subbudgets"), found("Clock", { isMatch: false }), found("Budget")];
  assertEquals(await titles("budget", all), ["Budget", "subbudgets"]);
});

Deno.test("rankByWords() keeps everything in its order for a query of words that say nothing", async () => {
  assertEquals(await titles("what is it", [found("b"), found("a", { isMatch: false })]), ["b", "a"]);
});

Deno.test("rankByWords() counts an id once", async () => {
  assertEquals(await titles("budget", [found("Budget"), found("Budget")]), ["Budget"]);
});
