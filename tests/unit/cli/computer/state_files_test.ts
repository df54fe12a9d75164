import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { openEras } from "../../../../src/cli/computer/state_files.ts";

Deno.test("openEras() keeps a text in a file that only this user can read", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = join(folder, "a2c-smcp", "mcp_versions.json");
    const store = openEras(file);
    assert(store !== undefined);
    assertEquals(await store.read(), undefined);
    await store.write("one");
    await store.write("two");
    assertEquals(await openEras(file)?.read(), "two");
    if (Deno.build.os !== "windows") assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("openEras() survives a file that can be neither read nor written", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const store = openEras(folder);
    assertEquals(await store?.read(), undefined);
    await store?.write("lost");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
