// axe-core finds nothing on any screen of the operator's page.

import { assertEquals } from "@std/assert";
import { hasChromium } from "../fixtures/chromium.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { findingsOf, loadAxe } from "./_axe.ts";
import { ADA, LAPTOP, OperatorPage } from "./_operator_page.ts";

const looks = [
  { width: 1280, scheme: "light" },
  { width: 360, scheme: "dark" },
  ...isFullSize ? [{ width: 1280, scheme: "dark" }, { width: 360, scheme: "light" }] as const : [],
] as const;

/** Each screen, and words that it shows when it is complete. */
const ROUTES = [
  { route: "overview", words: "Changed options" },
  { route: "offices/lab", words: "websocket" },
  { route: "offices/lab/events", words: "Nothing since you look" },
  { route: "clients", words: "token-1" },
  { route: "machines", words: "this Server takes none" },
  { route: "audit", words: "joined office" },
] as const;

Deno.test({
  name: "axe-core finds nothing on the operator's screens, wide and narrow, light and dark",
  ignore: !hasChromium || Deno.build.os === "windows",
  async fn() {
    await using page = await OperatorPage.open("--token", "s3cret");
    const auth = { token: "s3cret" };
    await using _ada = await page.join(ADA, auth);
    await using _laptop = await page.join(LAPTOP, auth);
    await loadAxe(page.browser);
    for (const look of looks) {
      await page.browser.showAs(look);
      for (const { route, words } of ROUTES) {
        await page.show(route);
        await page.browser.textWith(words);
        assertEquals(await findingsOf(page.browser), [], `${route}, ${look.width} px, ${look.scheme}`);
      }
      await page.show("offices/lab");
      await page.browser.click('[aria-label="End the connection of ada"]');
      await page.browser.find("dialog[open]");
      assertEquals(await findingsOf(page.browser), [], "the dialog");
      await page.browser.press("Escape");
    }
  },
});
