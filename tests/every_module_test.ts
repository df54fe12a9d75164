// Coverage counts only modules that were loaded, so a module without any test would be missing there.

import { assertEquals } from "@std/assert";
import { listSourceModules, sourceUrl } from "./source_modules.ts";

Deno.test("each module of src/ can be imported", async () => {
  const failures: string[] = [];
  for (const url of await listSourceModules()) {
    await import(url).catch((error) => failures.push(`${url.slice(sourceUrl.href.length)}: ${error}`));
  }
  assertEquals(failures, []);
});
