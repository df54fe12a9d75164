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
  { route: "audit", words: "Audit 4" },
] as const;

for (const look of looks) {
  Deno.test({
    name: `axe-core finds nothing on the operator's screens, ${look.width} px wide and ${look.scheme}`,
    ignore: !hasChromium || Deno.build.os === "windows",
    async fn() {
      await using page = await OperatorPage.open("--token", "s3cret");
      const auth = { token: "s3cret" };
      await using _ada = await page.join(ADA, auth);
      await using _laptop = await page.join(LAPTOP, auth);
      await page.browser.showAs(look);
      await loadAxe(page.browser);
      for (const { route, words } of ROUTES) {
        await page.show(route);
        await page.browser.textWith(words);
        assertEquals(await findingsOf(page.browser), [], route);
      }
      await page.show("offices/lab");
      await page.browser.click('[aria-label="End the connection of ada"]');
      await page.browser.find("dialog[open]");
      assertEquals(await findingsOf(page.browser), [], "the dialog");
    },
  });
}
