// The pictures of the README show the pages as they are; `deno task pictures` makes them anew.

import { assertEquals } from "@std/assert";
import type { Chromium } from "../fixtures/chromium.ts";
import { Chromium as Browser, hasChromium } from "../fixtures/chromium.ts";
import { animatePng, readText } from "./_animated_png.ts";
import { inFull } from "./_console_page.ts";
import { sceneAt } from "./_scene.ts";
import { ScriptedConsole } from "./_scripted_console.ts";

const isWriting = Deno.env.get("A2C_PICTURES") === "write";
const NOW_MS = Date.UTC(2026, 10, 29, 9, 41, 0);
const REPORT = "sees/finder/dpe%3A%2F%2Fcom.example.workspace%2Fquarterly-report.md";

interface Frame {
  readonly route: string;
  /** Words that are there when the screen has read what it shows. */
  readonly words: string;
  readonly shownMs: number;
}

/** What the Agent does, and what its owner looks at. */
const STORY: readonly Frame[] = [
  { route: "now/h59", words: "Arguments, masked", shownMs: 1_500 },
  { route: "now/c1", words: "may delete or overwrite", shownMs: 4_000 },
  { route: "now/r1", words: "reading reports/2025", shownMs: 2_500 },
  { route: "sees/desktop", words: "4 windows", shownMs: 2_500 },
  { route: REPORT, words: "1,380", shownMs: 2_500 },
  { route: "servers/database", words: "db_password", shownMs: 3_000 },
];

const SERVERS = STORY.filter(({ route }) => route === "servers/database");

testPicture("owner.png", STORY, { width: 1200, height: 750, scheme: "dark" });
testPicture("owner-servers.png", SERVERS, { width: 1200, height: 750, scheme: "light" });

function testPicture(name: string, frames: readonly Frame[], look: Parameters<Chromium["showAs"]>[0]): void {
  Deno.test({
    name: `docs/pictures/${name} shows the page as it is`,
    ignore: isWriting ? !hasChromium : inFull.ignore,
    async fn() {
      await using console = await ScriptedConsole.open(sceneAt(NOW_MS));
      await using browser = await Browser.open();
      await browser.stopClock(NOW_MS);
      await browser.showAs(look);
      await browser.goTo(console.door.link);
      await browser.find(".side a");
      const taken: { png: Uint8Array; shownMs: number; text: string }[] = [];
      for (const frame of frames) taken.push(await take(browser, frame));
      const text = taken.map((each) => each.text).join("\n\n");
      const file = new URL(`../../docs/pictures/${name}`, import.meta.url);
      if (isWriting) await Deno.writeFile(file, animatePng(taken, text));
      assertEquals(readText(await Deno.readFile(file)), text, "run deno task pictures");
    },
  });
}

async function take(browser: Chromium, { route, words, shownMs }: Frame) {
  await browser.evaluate(`location.hash = "#/${route}"`);
  await browser.textWith(words);
  // Buttons are on after half a second, and the last read of the screen is drawn.
  await browser.run("new Promise((done) => setTimeout(() => requestAnimationFrame(done), 700))");
  const text = String(await browser.evaluate("document.body.innerText"));
  return { png: await browser.picture(), shownMs, text };
}
