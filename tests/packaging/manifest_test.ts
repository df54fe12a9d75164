// The manifest for npm repeats what the one for Deno says: it must not say anything else.

import { assert, assertEquals } from "@std/assert";
import deno from "../../deno.json" with { type: "json" };
import npm from "../../package.json" with { type: "json" };

Deno.test("package.json has the version and the licence of deno.json", () => {
  assertEquals([npm.version, npm.license], [deno.version, deno.license]);
});

Deno.test("package.json names each door and folder that the programs are made of", () => {
  const doors = deno.publish.include.filter((path) => path.endsWith(".ts") || path === "src/");
  for (const path of [...doors, "bin/", "tools/std/", "deno.json", "deno.lock"]) {
    assert(npm.files.includes(path), `"files" lacks ${path}`);
  }
});

// An optional dependency: `deno task` would install any other one itself, for each platform.
Deno.test("package.json asks for the Deno that .ci/run asks for", async () => {
  const script = await Deno.readTextFile(new URL("../../.ci/run", import.meta.url));
  assertEquals(npm.optionalDependencies.deno, `^${/minimum_deno=(\S+)/.exec(script)?.[1]}`);
});
