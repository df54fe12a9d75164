// axe-core finds nothing on any screen of the owner's page.

import { assertEquals } from "@std/assert";
import { isFullSize } from "../fixtures/test_size.ts";
import { findingsOf, loadAxe } from "./_axe.ts";
import { inEach } from "./_console_page.ts";
import { testPage } from "./_owner_page.ts";
import { ROUTES, SCENE } from "./_scene.ts";

const looks = [
  { width: 1280, scheme: "light" },
  ...isFullSize
    ? [{ width: 360, scheme: "dark" }, { width: 360, scheme: "light" }, {
      width: 2560,
      scheme: "dark",
    }] as const
    : [],
] as const;

testPage("axe-core finds nothing on the owner's screens, of any width, light and dark", async (page) => {
  await loadAxe(page.browser);
  for (const look of looks) {
    await page.browser.showAs(look);
    for (const { route, words } of ROUTES) {
      await page.show(route);
      await page.browser.textWith(words);
      assertEquals(await findingsOf(page.browser), [], `${route}, ${look.width} px, ${look.scheme}`);
    }
  }
}, { when: inEach, script: SCENE });
