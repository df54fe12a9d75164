import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PageDialogue } from "../../../../src/cli/questions/page.ts";
import { BASE, type } from "./_forms.ts";

function pageOf(url: string): PageDialogue {
  return new PageDialogue({ ...BASE, mode: "url", url }, { columns: 80 });
}

Deno.test("a page is shown with its host and its whole address, in one line", () => {
  const url = `https://pay.example.com/authorize?state=${"x".repeat(500)}`;
  const lines = pageOf(url).first.text.split("\n");
  assertEquals(lines.slice(0, 4), [
    'MCP server "shop" asks you to open a page in a call of "order" by Agent "bot":',
    "  Where to?",
    "Host: pay.example.com",
    url,
  ]);
  assertStringIncludes(lines[4] ?? "", "does not open it");
});

Deno.test("an address that deceives the eye is told apart", () => {
  const text = (url: string) => pageOf(url).first.text;
  assertStringIncludes(
    text("https://bank.example.com@evil.example/"),
    "Host: evil.example\nCareful: what stands before",
  );
  assertStringIncludes(text("https://b\u0430nk.example/"), "Host: xn--");
  assertStringIncludes(text("https://b\u0430nk.example/"), "not written in ASCII");
  assertStringIncludes(text("http://bank.example/"), "not encrypted");
  assert(!text("http://localhost:8080/").includes("Careful"));
  assert(!text("https://x.example/\u202e%1b[2J").includes("\u202e"));
});

Deno.test("only a clear yes accepts a page", () => {
  const answer = (typed: string) => {
    const page = pageOf("https://x.example/");
    const shown = type(page, typed);
    return [page.isAccepted, shown.at(-1)];
  };
  assertEquals(answer("d"), [true, ""]);
  assertEquals(answer(" Done "), [true, ""]);
  assertEquals(answer(""), [false, ""]);
  assertEquals(answer("n"), [false, ""]);
  assertEquals(answer("later"), [false, "Invalid answer: enter d or n"]);
});
