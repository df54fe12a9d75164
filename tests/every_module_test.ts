// Coverage counts only modules that were loaded, so that a module without any test would go unseen.

import { listSourceModules, sourceUrl } from "./source_modules.ts";

for (const url of await listSourceModules()) {
  Deno.test(`src/${url.slice(sourceUrl.href.length)} can be imported without doing anything`, async () => {
    await import(url);
  });
}
