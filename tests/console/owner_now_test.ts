// What the owner sees and does about calls, on the page in a real browser.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inEach, inFull } from "./_console_page.ts";
import { OwnerPage, testPage, waitingCall } from "./_owner_page.ts";

function withWaiting(...waiting: readonly unknown[]) {
  return { "calls list": { paused: false, waiting, running: [] } };
}

testPage(
  "a call that waits is shown with its arguments, and `Allow once` carries the digest of what was shown",
  async (page) => {
    assertStringIncludes(
      await page.browser.textWith("/tmp/c1"),
      "Agent ada wants to run write_file of files",
    );
    await page.press("Allow once");
    assertEquals(await page.ran("calls allow"), ["calls", "allow", "--shown=digest-of-c1", "--", "c1"]);
  },
  { when: inEach, script: withWaiting(waitingCall("c1")) },
);

testPage("a call that is answered elsewhere leaves the page, which says where", async (page) => {
  await page.browser.textWith("/tmp/c1");
  page.console.feed.publish("waiting", { id: "c1", gone: "answered at the terminal" });
  assertStringIncludes(await page.browser.textWith("Nothing waits for you"), "answered at the terminal");
}, { script: withWaiting(waitingCall("c1")) });

testPage("a new call is announced to a screen reader, and counted in the title of the tab", async (page) => {
  await page.browser.textWith("Nothing waits");
  page.console.feed.publish("waiting", waitingCall("c1"));
  await page.textOf("[role=status].unseen", (text) => text.includes("write_file of files waits for you"));
  assertEquals(await page.browser.evaluate("document.title"), "(1) laptop · A2C-SMCP");
}, { when: inEach });

Deno.test({
  name: "a call with more arguments than a page can be allowed when its last page was shown",
  ...inEach,
  async fn() {
    const show = (words: readonly string[]) => {
      const page = Number(words.find((word) => word.startsWith("--page="))?.slice(7));
      return { id: "c1", page, pages: 2, text: `text of page ${page}` };
    };
    const long = { ...waitingCall("c1"), arguments: undefined, arguments_bytes: 100_000 };
    await using page = await OwnerPage.open({ ...withWaiting(long), "calls show": show });
    const shown = await page.browser.textWith("text of page 1");
    assertStringIncludes(shown, "Page 1 of 2");
    assertStringIncludes(shown, "Allow works when the last page");
    await page.press("Next");
    await page.browser.textWith("text of page 2");
    await page.press("Allow once");
    await page.ran("calls allow");
    const all = page.console.ran.map((words) => words.join(" "));
    assert(
      all.indexOf("calls show --page=2 -- c1") < all.findIndex((words) => words.startsWith("calls allow")),
    );
  },
});

Deno.test({
  name: "what has changed in a tool since it was allowed is shown, removed and added",
  ...inFull,
  async fn() {
    const changes = [{ member: "description", removed: ["Reads a file."], added: ["Deletes a file."] }];
    await using page = await OwnerPage.open(
      withWaiting(waitingCall("c1", { changed: "its description", changes })),
    );
    await page.browser.textWith("Changed since you allowed it: its description");
    assertEquals(await page.textOf("del"), "Reads a file.");
    assertEquals(await page.textOf("ins"), "Deletes a file.");
  },
});

Deno.test({
  name: "who asks is the Agent that the Server vouches for, and then who it says it is",
  ...inEach,
  async fn() {
    const client = waitingCall("c1", { client: "Claude", claimed_agent: "ada/Claude" });
    const other = waitingCall("c2", { agent: undefined, claimed_agent: "root" });
    await using page = await OwnerPage.open(withWaiting(client, other));
    await page.browser.textWith("Agent ada, for, as it says: Claude wants to run write_file");
    await page.show("now/c2");
    await page.browser.textWith(
      "an Agent that the Server did not name, calls itself root wants to run write_file",
    );
  },
});
