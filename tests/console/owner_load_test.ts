// Much at once on the owner's page: it draws what is in view, and reads twice a second at most.

import { assert, assertEquals, assertLess } from "@std/assert";
import { sized } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";
import { inEach } from "./_console_page.ts";
import { callRecord, OwnerPage, testPage, waitingCall } from "./_owner_page.ts";

Deno.test({
  name: "of 500 calls that wait and 1,000 that have ended, only the rows in view are in the page",
  ...inEach,
  async fn() {
    const waiting = Array.from({ length: 500 }, (_, index) => waitingCall(`c${index}`));
    const records = Array.from({ length: 1_000 }, (_, index) => callRecord(index + 1));
    await using page = await OwnerPage.open({
      "calls list": { paused: false, waiting, running: [] },
      history: { history: records },
    });
    await page.browser.textWith("/tmp/c0");
    assertEquals(await page.browser.evaluate("document.title"), "(500) laptop · A2C-SMCP");
    assertLess(await countOf(page, "*"), 1_500);
    assertLess(await countOf(page, "[role=option]"), 100);
    await page.browser.evaluate("document.querySelector('[role=listbox]').focus()");
    await page.browser.press("End");
    await page.browser.textWith("/tmp/c499");
    await page.show("history");
    await page.browser.textWith("History 1,000");
    assertLess(await countOf(page, "[role=option]"), 100);
  },
});

function windowsAt(change: number): string[] {
  return Array.from(
    { length: 200 },
    (_, index) =>
      `window://com.example.w${index}/now\n\nwindow ${index} ${index === change % 200 ? change : ""}`,
  );
}

/** A change of the Desktop each so many milliseconds. */
const CHANGE_MS = 100;
/** How long the Desktop changes, in seconds; the note about the page has the figures of the full run. */
const SECONDS = sized({ reduced: 2, full: 1_800 });

Deno.test({
  name: "a Desktop of 200 windows that changes ten times a second is read twice a second, and only there",
  ...inEach,
  async fn() {
    let change = 0;
    await using page = await OwnerPage.open({ desktop: () => ({ desktops: windowsAt(change) }) });
    await page.show("sees/desktop");
    await page.browser.textWith("200 windows");
    await page.browser.evaluate(MEASURE);
    const before = page.console.countOf("desktop");
    const heapBefore = await heapOf(page);
    const startMs = performance.now();
    await changeFor(SECONDS, () => {
      change++;
      page.console.feed.publish("desktop");
    });
    const all = () => page.browser.evaluate("document.querySelector('.windows').textContent");
    await eventually(
      all,
      (text) => String(text).includes(`window ${change % 200} ${change}`),
      "the last change",
    );
    const seconds = (performance.now() - startMs) / 1_000;
    const reads = page.console.countOf("desktop") - before;
    const { redrawn, longMs } = await page.browser.evaluate("measured") as {
      redrawn: number;
      longMs: number;
    };
    console.log(
      `200 windows, ${change} changes in ${
        seconds.toFixed(0)
      } s: ${reads} reads, ${redrawn} windows drawn anew, ` +
        `long tasks ${(longMs / seconds / 10).toFixed(2)} %, heap ${heapBefore} -> ${await heapOf(page)} kB`,
    );
    assertLess(reads, seconds * 2 + 3);
    // One read shows at most two windows of another text for each change since the last one.
    assertLess(redrawn, change * 2 + 20);
    await page.show("now");
    await page.browser.textWith("Nothing waits");
    const whenLeft = page.console.countOf("desktop");
    await changeFor(1, () => page.console.feed.publish("desktop"));
    assertEquals(page.console.countOf("desktop"), whenLeft, "nothing is read for a screen that is not shown");
  },
});

/** Counts the windows that are drawn anew, and the time of tasks above 50 ms. */
const MEASURE = `
  globalThis.measured = { redrawn: 0, longMs: 0 };
  new MutationObserver((records) => {
    const windows = records.map(({ target }) => (target.parentElement ?? target).closest?.(".window"));
    measured.redrawn += new Set(windows.filter(Boolean)).size;
  }).observe(document.querySelector(".windows"), { subtree: true, childList: true, characterData: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) measured.longMs += duration;
  }).observe({ type: "longtask" });
  undefined`;

async function changeFor(seconds: number, change: () => void): Promise<void> {
  const done = Promise.withResolvers<void>();
  let left = seconds * 1_000 / CHANGE_MS;
  const timer = setInterval(() => {
    change();
    if (--left <= 0) done.resolve();
  }, CHANGE_MS);
  await done.promise;
  clearInterval(timer);
}

async function countOf(page: OwnerPage, selector: string): Promise<number> {
  return Number(await page.browser.evaluate(`document.querySelectorAll("${selector}").length`));
}

async function heapOf(page: OwnerPage): Promise<number> {
  await page.browser.collectGarbage();
  return Math.round(Number(await page.browser.evaluate("performance.memory.usedJSHeapSize")) / 1_000);
}

testPage("a burst of 2,000 events about calls is applied, and the page answers meanwhile", async (page) => {
  await page.browser.textWith("Nothing waits");
  for (let index = 0; index < 1_000; index++) {
    page.console.feed.publish("waiting", waitingCall(`c${index}`));
    if (index >= 3) {
      page.console.feed.publish("waiting", { id: `c${index - 3}`, gone: "answered at the terminal" });
    }
  }
  const title = () => page.browser.evaluate("document.title");
  await eventually(title, (text) => text === "(3) laptop · A2C-SMCP", "the last three calls");
  assert((await page.browser.textWith("Waits for you 3")).includes("write_file"));
});
