// axe-core finds nothing on any screen of the owner's page.

import { assertEquals } from "@std/assert";
import axe from "axe-core";
import { isRecord } from "../../src/json/json.ts";
import { hasChromium } from "../fixtures/chromium.ts";
import { isFullSize } from "../fixtures/test_size.ts";
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
      await page.browser.evaluate(`${axe.source}; undefined`);
      for (const { route, words } of ROUTES) {
        await page.show(route);
        await page.browser.textWith(words);
        assertEquals(await findingsOf(page), [], route);
      }
    },
  });
}

/** What axe-core finds: the rule and the first place of each. */
async function findingsOf({ browser }: OwnerPage): Promise<string[]> {
  const result = await browser.run("axe.run().then(({ violations }) => violations)");
  const violations = Array.isArray(result) ? result.filter(isRecord) : [];
  return violations.map(({ id, help, nodes }) =>
    `${id}: ${help}: ${Deno.inspect(nodes, { depth: 3 }).slice(0, 600)}`
  );
}
