import { assertEquals, assertStringIncludes } from "@std/assert";
import { buildPage, type PageKind } from "../../../../../src/cli/computer/auth/loopback.ts";

Deno.test("the page says in plain words how the sign-in ended", async () => {
  const told: readonly (readonly [kind: PageKind, status: number, words: string])[] = [
    ["done", 200, "You are signed in"],
    ["failed", 400, "The sign-in failed"],
    ["not awaited", 400, "copy the whole address of this page and paste it there"],
    ["not found", 404, "There is no page here"],
  ];
  for (const [kind, status, words] of told) {
    const page = buildPage(kind, "files");
    assertEquals(page.status, status);
    assertStringIncludes(await page.text(), words);
  }
});

Deno.test("the name of a server cannot become a part of the page, and the page loads nothing", async () => {
  const page = buildPage("done", `<script>alert("1")</script>&\u202e`);
  const text = await page.text();
  assertEquals(text.includes("<script>"), false);
  assertEquals(text.includes("\u202e"), false);
  assertStringIncludes(text, "&#60;script&#62;");
  assertStringIncludes(page.headers.get("content-security-policy") ?? "", "default-src 'none'");
  assertEquals(page.headers.get("referrer-policy"), "no-referrer");
  assertEquals(page.headers.get("cache-control"), "no-store");
});
