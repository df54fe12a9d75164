// axe-core finds nothing on any screen of the owner's page.

import { assertEquals } from "@std/assert";
import { hasChromium } from "../fixtures/chromium.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { findingsOf, loadAxe } from "./_axe.ts";
import { OwnerPage } from "./_owner_page.ts";
import { ROUTES, SCENE } from "./_scene.ts";

const looks = [
  { width: 1280, scheme: "light" },
  { width: 360, scheme: "dark" },
  ...isFullSize ? [{ width: 2560, scheme: "dark" }, { width: 360, scheme: "light" }] as const : [],
] as const;

for (const look of looks) {
  Deno.test({
    name: `axe-core finds nothing on the owner's screens, ${look.width} px wide and ${look.scheme}`,
    ignore: !hasChromium,
    async fn() {
      await using page = await OwnerPage.open(SCENE);
      await page.browser.showAs(look);
      await loadAxe(page.browser);
      for (const { route, words } of ROUTES) {
        await page.show(route);
        await page.browser.textWith(words);
        assertEquals(await findingsOf(page.browser), [], route);
      }
    },
  });
}
