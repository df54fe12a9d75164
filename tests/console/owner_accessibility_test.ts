// axe-core finds nothing on any screen of the owner's page.

import { assertEquals } from "@std/assert";
import { findingsOf, loadAxe } from "./_axe.ts";
import { inEach, inFull } from "./_console_page.ts";
import { OwnerPage } from "./_owner_page.ts";
import { ROUTES, SCENE } from "./_scene.ts";

const looks = [
  { width: 1280, scheme: "light" },
  { width: 360, scheme: "dark" },
  { width: 360, scheme: "light" },
  { width: 2560, scheme: "dark" },
] as const;

for (const look of looks) {
  Deno.test({
    name: `axe-core finds nothing on the owner's screens, ${look.width} px wide and ${look.scheme}`,
    ...look.width === 1280 ? inEach : inFull,
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
