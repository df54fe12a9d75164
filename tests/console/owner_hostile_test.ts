// Texts of others in every field of the owner's page: none becomes markup, hides what it says or breaks the page.

import { assertEquals, assertLess, assertMatch } from "@std/assert";
import { isRecord } from "../../src/json/json.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { inEach, inFull } from "./_console_page.ts";
import { OwnerPage, searchRecord } from "./_owner_page.ts";
import { SCENE } from "./_scene.ts";

const HOSTILE: Readonly<Record<string, string>> = {
  markup: `"><img src=x onerror="globalThis.isTaken=true"><script>globalThis.isTaken=true</script><b>x</b>`,
  "text that is reordered": "safe\u202egnp.exe\u2066 \u200f\u061c",
  "invisible text": "a\u200b\u200c\u200d\u2060\ufeff\u00ad\u{e0041}b",
  "control characters": "a\u0000\u001b[2J\u0007\r\n\u2028\u0085b",
  "a line of 1 MB": "x".repeat(1_000_000),
  "names of the language": "__proto__",
  "half a character": "\ud800",
  "combining marks": `a${"\u0301".repeat(500)}`,
};

/** Members that the program itself chooses. */
const OWN_MEMBERS = new Set([
  ...["id", "kind", "mode", "status", "state", "since", "ends_at", "started_at", "call", "digest", "form"],
  ...["type", "value_from", "category", "outcome", "first_at", "last_at"],
]);

/** The value with a hostile text in place of each text, and as a further name of each object. */
function hostileFor(value: unknown, text: string, member = ""): unknown {
  if (typeof value === "string") return OWN_MEMBERS.has(member) ? value : text;
  if (Array.isArray(value)) return value.map((each, index) => hostileFor(each, `${index} ${text}`, member));
  if (typeof value === "function") return (words: unknown) => hostileFor(value(words), text);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, hostileFor(each, text, name)]);
  const isOpen = member === "arguments" || member === "properties";
  return Object.fromEntries([...entries, ...isOpen ? [[text.slice(0, 5_000), { type: "string" }]] : []]);
}

const ROUTES = [
  ...["now", "now/q1", "now/r1", "servers", "sees/tools", "sees/desktop", "sees/finder", "sees/skills"],
  ...["sees/config", "history", "history/r0", "configuration"],
];
const HISTORY = { history: [...SCENE.history.history, searchRecord(0, "toner", { more_documents: 3 })] };

for (const [kind, text] of Object.entries(HOSTILE)) {
  Deno.test({
    name: `${kind} in every field of the owner's page`,
    ...kind === "markup" ? inEach : inFull,
    async fn() {
      const scene = Object.fromEntries(
        Object.entries({ ...SCENE, history: HISTORY }).map((
          [command, value],
        ) => [command, hostileFor(value, text)]),
      );
      await using page = await OwnerPage.open(scene);
      await page.browser.evaluate(
        `globalThis.problems = [];
        addEventListener("error", ({ message }) => problems.push(message));
        addEventListener("unhandledrejection", ({ reason }) => problems.push(String(reason)));
        addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
          problems.push(violatedDirective + blockedURI));`,
      );
      for (const width of isFullSize ? [1280, 360] : [360]) {
        await page.browser.showAs({ width, scheme: "dark" });
        const edited = text.length > 1_000
          ? []
          : [`configuration/${encodeURIComponent(text.toWellFormed())}`];
        for (const route of [...ROUTES, ...edited]) await assertHarmless(page, route);
      }
    },
  });
}

async function assertHarmless(page: OwnerPage, route: string): Promise<void> {
  const { browser } = page;
  await page.show(route);
  // Two frames: the screen is drawn, with what was read for it before or, of a made-up Computer, at once.
  await browser.run("new Promise((done) => setTimeout(() => requestAnimationFrame(done), 150))");
  assertEquals(await browser.evaluate("problems"), [], route);
  assertEquals(await browser.evaluate("globalThis.isTaken"), undefined, route);
  assertEquals(
    await browser.evaluate("document.querySelectorAll('img, script:not([src]), main b').length"),
    0,
    route,
  );
  const hidden = String.raw`/[\u202a-\u202e\u2066-\u2069\u200b\u0000\u001b]/u.test(document.body.innerText +
    document.querySelector("textarea.mono")?.value)`;
  assertEquals(await browser.evaluate(hidden), false, `${route} shows what is invisible as escapes`);
  assertEquals(
    await browser.evaluate("document.documentElement.scrollWidth <= innerWidth"),
    true,
    `${route} fits the width`,
  );
  const size = Number(await browser.evaluate("document.body.innerText.length"));
  assertLess(size, 2_000_000, `${route} shows a bounded part at first`);
}

Deno.test({
  name: "a page of tables and a form without end are shown in bounds, and say how much more there is",
  ...inEach,
  async fn() {
    const many = <Part>(part: Part, length = 300) => Array.from({ length }, () => part);
    const table = { category: "table", content: { headers: many("h"), rows: many(many("1")) } };
    const list = { category: "list", content: { items: many({ text: "x", items: many("y") }) } };
    const text = JSON.stringify({ title: "", elements: [table, list, ...many(table, 3)] });
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field ${n}`, {}]));
    const tool = { name: "t", tool: "t", server: "files", description: "", params_schema: { properties } };
    const tools = { "tool list": { tools: [tool] } };
    await using page = await OwnerPage.open({ ...SCENE, ...tools, read: { contents: [{ text }] } });
    await page.show("sees/tools");
    await page.textOf(".field", (label) => label.includes("As JSON"));
    await page.show("sees/finder");
    const seen = await page.browser.textWith("100 more columns");
    const parts = await page.browser.evaluate("document.querySelectorAll('.paper :is(td, th, li)').length");
    assertLess(Number(parts), 25_000);
    assertMatch(seen, /\d+ more rows/);
  },
});
