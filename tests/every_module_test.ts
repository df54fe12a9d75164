// Coverage counts only modules that were loaded, so a module without any test would be missing there.

import { assertEquals } from "@std/assert";
import { listSourceModules, rootUrl } from "./source_modules.ts";

Deno.test("each module of the packages can be imported", async () => {
  const failures: string[] = [];
  // The pages of the console run in browsers alone.
  const modules = (await listSourceModules()).filter((url) => !url.includes("/src/console/page/"));
  for (const url of modules) {
    await import(url).catch((error) => failures.push(`${url.slice(rootUrl.href.length)}: ${error}`));
  }
  assertEquals(failures, []);
});
