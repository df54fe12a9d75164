// The owner's page while its Computer is away, comes back, or has started anew.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually } from "../fixtures/within.ts";
import { inEach, openLink } from "./_console_page.ts";
import { callRecord, type OwnerPage, QUIET, testPage, waitingCall } from "./_owner_page.ts";
import { ScriptedConsole } from "./_scripted_console.ts";

/** Pastes a link into a page that has none, and waits until it shows its Computer. */
async function openBy(page: OwnerPage, link: string): Promise<void> {
  await page.fill("Or paste the link here", link);
  await page.press("Open");
  await page.browser.textWith("Nothing waits for you");
}

testPage("the token leaves the address, and a reload still has it", async (page) => {
  assertEquals(await page.browser.evaluate("location.href.includes('#/')"), true);
  assertEquals(
    await page.browser.evaluate("document.documentElement.outerHTML").then(String).then((text) =>
      text.includes(new URL(page.console.door.link).hash.slice(1))
    ),
    false,
  );
  await page.browser.evaluate("location.reload()");
  await page.browser.textWith("Nothing waits for you");
}, { when: inEach });

testPage("a page without its link says how to get it, and takes it", async (page) => {
  await page.browser.evaluate("sessionStorage.clear(); location.reload()");
  assertStringIncludes(
    await page.browser.textWith("This page needs its link"),
    "a2c-smcp computer console",
  );
  await page.fill("Or paste the link here", "no link");
  await page.press("Open");
  await page.browser.textWith("That is not the link");
  await page.browser.evaluate("document.querySelector('form input').select()");
  await openBy(page, page.console.door.link);
});

testPage("the head tells since when the Computer is in its office, and not of the Agent", async (page) => {
  const head = await page.textOf(".where", (text) => text.includes("Agent"));
  assertMatch(head, /^office lab, for \d/);
  assertMatch(head, /Agent ada$/);
}, { when: inEach });

testPage(
  "while the Computer is away the page keeps what it knew and says so; a Computer that started anew wants its link",
  async (page) => {
    await page.browser.textWith("read_file");
    const { port } = page.console.door;
    await page.console[Symbol.asyncDispose]();
    assertStringIncludes(await page.browser.textWith("The program does not answer"), "read_file");
    await page.textOf(".where", (text) => text.includes("not connected") && !text.includes("lab"));
    const off = await page.browser.evaluate(
      `[...document.querySelectorAll("[aria-disabled=true]")].map((button) => button.innerText.trim())`,
    );
    assertEquals(off, ["Pause\nP"]);
    assertEquals(await page.browser.evaluate("document.querySelector('.screen')?.inert"), true);
    await using anew = await ScriptedConsole.open(QUIET, port);
    await page.browser.textWith("This page needs its link");
    await openBy(page, anew.door.link);
  },
  { when: inEach, script: { history: { history: [callRecord(1)] } } },
);

testPage("when a stream is lost and has missed events, the page reads all again", async (page) => {
  await page.browser.textWith("Nothing waits for you");
  page.console.script["calls list"] = { paused: true, waiting: [waitingCall("c1")], running: [] };
  page.console.feed.publish("reset", {});
  assertStringIncludes(await page.browser.textWith("/tmp/c1"), "Paused: Agents get nothing");
});

testPage("two pages show the same, and what one answers leaves the other", async (page) => {
  await using other = await openLink(page.console.door.link);
  await other.textWith("/tmp/c1");
  page.console.script["calls allow"] = () =>
    page.console.feed.publish("waiting", { id: "c1", gone: "answered on the page" });
  await page.press("Allow once");
  await other.textWith("Nothing waits for you");
  const notice = () => page.browser.evaluate("document.querySelector('.notice')?.innerText");
  assertEquals(
    await eventually(notice, (text) => text !== undefined, "the notice"),
    "write_file: answered on the page",
  );
}, {
  script: {
    "calls list": { paused: false, waiting: [waitingCall("c1")], running: [] },
  },
});

testPage("another program that took the port gets no token, and shows nothing on the page", async (page) => {
  await page.browser.textWith("read_file");
  const { port } = page.console.door;
  await page.console[Symbol.asyncDispose]();
  await page.browser.textWith("The program does not answer");
  const asked: [string, string | null][] = [];
  const event = `event: waiting\ndata: ${JSON.stringify(waitingCall("forged"))}\n\n`;
  await using _other = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, (request) => {
    asked.push([new URL(request.url).pathname, request.headers.get("authorization")]);
    return new Response(event, { headers: { "content-type": "text/event-stream" } });
  });
  const text = await page.browser.textWith("This page needs its link");
  assertEquals(text.includes("forged"), false);
  assertEquals(asked, [["/proof", null]]);
  assertEquals(await page.browser.evaluate("sessionStorage.length"), 0);
}, { when: inEach, script: { history: { history: [callRecord(1)] } } });
