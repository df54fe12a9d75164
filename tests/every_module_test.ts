// Coverage counts only modules that were loaded, so a module without any test would be missing there.

import { assertEquals } from "@std/assert";
import { listSourceModules, rootUrl } from "./source_modules.ts";

Deno.test("each module of the packages can be imported", async () => {
  const failures: string[] = [];
  for (const url of await listSourceModules()) {
    await import(url).catch((error) => failures.push(`${url.slice(rootUrl.href.length)}: ${error}`));
  }
  assertEquals(failures, []);
});
