/** axe-core, which looks for barriers on a page. */
import axe from "axe-core";
import { isRecord } from "../../src/json/json.ts";
import type { Chromium } from "../fixtures/chromium.ts";

/** Brings axe-core into the page that is open. */
export async function loadAxe(browser: Chromium): Promise<void> {
  await browser.evaluate(`${axe.source}; undefined`);
}

/** What axe-core finds: the rule and the first place of each. */
export async function findingsOf(browser: Chromium): Promise<string[]> {
  const result = await browser.run("axe.run().then(({ violations }) => violations)");
  const violations = Array.isArray(result) ? result.filter(isRecord) : [];
  return violations.map(({ id, help, nodes }) =>
    `${id}: ${help}: ${Deno.inspect(nodes, { depth: 3 }).slice(0, 600)}`
  );
}
