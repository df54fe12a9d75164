// What the owner sees and does about calls, on the page in a real browser.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { hasChromium } from "../fixtures/chromium.ts";
import { eventually } from "../fixtures/within.ts";
import { OwnerPage, waitingCall } from "./_owner_page.ts";

const ignore = !hasChromium;

function withWaiting(...waiting: readonly unknown[]) {
  return { "calls list": { paused: false, waiting, running: [] } };
}

Deno.test({
  name:
    "a call that waits is shown with its arguments, and `Allow once` carries the digest of what was shown",
  ignore,
  async fn() {
    await using page = await OwnerPage.open(withWaiting(waitingCall("c1")));
    assertStringIncludes(
      await page.browser.textWith("/tmp/c1"),
      "Agent ada wants to run write_file of files",
    );
    await page.press("Allow once");
    assertEquals(await page.ran("calls allow"), ["calls", "allow", "--shown=digest-of-c1", "--", "c1"]);
  },
});

Deno.test({
  name: "a call that is answered elsewhere leaves the page, which says where",
  ignore,
  async fn() {
    await using page = await OwnerPage.open(withWaiting(waitingCall("c1")));
    await page.browser.textWith("/tmp/c1");
    page.console.feed.publish("waiting", { id: "c1", gone: "answered at the terminal" });
    assertStringIncludes(await page.browser.textWith("Nothing waits for you"), "answered at the terminal");
  },
});

Deno.test({
  name: "a new call is announced to a screen reader, and counted in the title of the tab and on its icon",
  ignore,
  async fn() {
    await using page = await OwnerPage.open();
    await page.browser.textWith("Nothing waits");
    page.console.feed.publish("waiting", waitingCall("c1"));
    await page.textOf("[role=status].unseen", (text) => text.includes("write_file of files waits for you"));
    assertEquals(await page.browser.evaluate("document.title"), "(1) laptop · A2C-SMCP");
    const icon = () =>
      page.browser.evaluate("decodeURIComponent(document.querySelector('link[rel=icon]').href)");
    await eventually(icon, (href) => String(href).includes(">1</text>"), "the badge of the icon");
  },
});
