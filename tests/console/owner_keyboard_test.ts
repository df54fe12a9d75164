// The owner's page by the keyboard alone.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { eventually } from "../fixtures/within.ts";
import { inEach } from "./_console_page.ts";
import { callRecord, type OwnerPage, searchRecord, testPage, waitingCall } from "./_owner_page.ts";
import { SCENE } from "./_scene.ts";

function withWaiting(...ids: readonly string[]) {
  return { "calls list": { paused: false, waiting: ids.map((id) => waitingCall(id)), running: [] } };
}

/** The label of what has the focus. */
async function focused(page: OwnerPage): Promise<string> {
  return String(
    await page.browser.evaluate(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
    ),
  );
}

testPage("a call is chosen with the arrows, read, and denied with D", async (page) => {
  await page.browser.textWith("/tmp/c1");
  while (await focused(page) !== "Waits for you") await page.browser.press("Tab");
  await page.browser.press("ArrowDown");
  await page.browser.press("ArrowDown");
  await page.browser.textWith("/tmp/c3");
  await page.browser.press("Enter");
  const heading = () => page.browser.evaluate("document.activeElement.id");
  await eventually(heading, (id) => id === "detail", "the focus on the call");
  await eventually(() => isArmed(page), (armed) => armed === true, "buttons that can be pressed");
  await page.browser.press("d");
  assertEquals(await page.ran("calls deny"), ["calls", "deny", "--", "c3"]);
}, { when: inEach, script: withWaiting("c1", "c2", "c3") });

function isArmed(page: OwnerPage): Promise<unknown> {
  return page.browser.evaluate(
    "document.querySelector('.bar .primary')?.getAttribute('aria-disabled') === 'false'",
  );
}

testPage(
  "keys of lists work without the focus on a list, and D denies the call that is shown",
  async (page) => {
    await page.browser.textWith("/tmp/c1");
    await page.browser.press("2");
    await page.browser.press("1");
    await page.browser.textWith("/tmp/c1");
    await page.browser.press("j");
    await page.browser.textWith("/tmp/c2");
    await page.browser.evaluate("document.querySelector('.bar .danger').focus()");
    await page.browser.press("ArrowDown");
    await page.browser.textWith("/tmp/c3");
    await eventually(() => isArmed(page), (armed) => armed === true, "buttons that can be pressed");
    await page.browser.press("d");
    assertEquals(await page.ran("calls deny"), ["calls", "deny", "--", "c3"]);
  },
  { when: inEach, script: withWaiting("c1", "c2", "c3") },
);

testPage("Enter in the search of tools goes to the tool that is chosen", async (page) => {
  await page.show("sees/tools");
  await page.browser.textWith("Run it yourself");
  await page.browser.type("input[type=search]", "write");
  await page.textOf(".detail h2", (text) => text.includes("write"));
  await page.browser.press("Enter");
  const heading = () => page.browser.evaluate("document.activeElement.id");
  await eventually(heading, (id) => id === "detail", "the focus on the tool");
  assertStringIncludes(await focused(page), "write");
  assertStringIncludes(String(await page.browser.evaluate("location.hash")), "write");
}, { when: inEach, script: SCENE });

testPage("every button of the shown call is reached by Tab, in the order of the page", async (page) => {
  await eventually(() => isArmed(page), (armed) => armed === true, "buttons that can be pressed");
  const reached: string[] = [];
  for (let step = 0; step < 20 && reached.at(-1) !== "DenyD"; step++) {
    await page.browser.press("Tab");
    reached.push(await focused(page));
  }
  const [first, ...rest] = reached;
  assertEquals(first, "Skip to the content");
  assert(rest.join("; ").endsWith("Allow onceA; Always allow; DenyD"), reached.join("; "));
  await page.browser.press("Enter");
  await page.ran("calls deny");
}, { when: inEach, script: withWaiting("c1") });

testPage("the focus stays in the page when what had it goes away", async (page) => {
  await page.browser.textWith("/tmp/c1");
  await page.browser.evaluate("document.querySelector('.bar .primary').focus()");
  page.console.feed.publish("waiting", { id: "c1", gone: "answered at the terminal" });
  await page.browser.textWith("Nothing waits for you");
  const place = () => page.browser.evaluate("document.activeElement.closest('main') !== null");
  await eventually(place, (isInside) => isInside === true, "the focus in the page");
}, { script: withWaiting("c1") });

testPage("new calls take neither the focus nor the choice from who types", async (page) => {
  await page.show("history/c1");
  await page.browser.type("input[type=search]", "read");
  page.console.feed.publish("waiting", waitingCall("c1"));
  page.console.feed.publish("call", callRecord(3));
  await page.browser.textWith("History 3");
  await page.browser.insert("_file");
  assertEquals(await page.browser.evaluate("document.activeElement.value"), "read_file");
  assertEquals(await page.browser.evaluate("location.hash"), "#/history/c1");
}, { when: inEach, script: { history: { history: [callRecord(1), callRecord(2)] } } });

testPage("letters that are typed into a field press no button", async (page) => {
  await page.show("now/q1");
  await page.browser.textWith("Which size");
  await page.browser.evaluate("document.querySelector('main textarea').focus()");
  for (const key of ["a", "d", "p", "5"]) await page.browser.press(key);
  assertEquals(await page.browser.evaluate("document.activeElement.value"), "adp5");
  assertEquals(page.console.ran.some(([command]) => command === "pause"), false);
}, { script: SCENE });

testPage(
  "the keys of the screens, the search and the help work, and Escape closes the help",
  async (page) => {
    await page.browser.press("3");
    await page.browser.textWith("Run it yourself");
    await page.browser.press("/");
    assertEquals(await focused(page), "Search tools");
    await page.browser.evaluate("document.activeElement.blur()");
    await page.browser.press("?");
    await page.browser.textWith("allow the shown call once");
    await page.browser.press("Escape");
    const open = () => page.browser.evaluate("document.querySelector('dialog') !== null");
    await eventually(open, (isOpen) => isOpen === false, "the end of the help");
  },
  { script: SCENE },
);

testPage(
  "the history says what was searched, in which documents it was found, and what was refused",
  async (page) => {
    await page.show("history/r1");
    const shown = await page.browser.textWith("Documents in the answer");
    for (const words of ["toner", "notes.txt", "read 2 times", "Last time"]) {
      assertStringIncludes(
        shown,
        words,
      );
    }
    await page.show("history/r2");
    await page.browser.textWith("refused");
  },
  {
    when: inEach,
    script: {
      history: {
        history: [
          searchRecord(1, "toner"),
          searchRecord(2, "secret plans", { documents: [], outcome: "refused" }),
        ],
      },
    },
  },
);
