// The environment belongs to the whole process, so these tests run alone.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { controlFolder } from "../../src/cli/socket_folder.ts";
import { chooseFolder, userName } from "../../src/files/user_sockets.ts";

const isPosix = Deno.build.os !== "windows";

/** Looks for the folder below a root of this test. */
async function inRoot(prepare: (folder: string) => Promise<void>): Promise<string | undefined> {
  const root = await Deno.makeTempDir();
  const before = Deno.env.get("XDG_RUNTIME_DIR");
  Deno.env.set("XDG_RUNTIME_DIR", root);
  try {
    await prepare(chooseFolder([root], userName()));
    return await controlFolder();
  } finally {
    if (before === undefined) Deno.env.delete("XDG_RUNTIME_DIR");
    else Deno.env.set("XDG_RUNTIME_DIR", before);
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test({
  name: "controlFolder() creates a private folder, and makes an open one private",
  ignore: !isPosix,
  async fn() {
    assert(await inRoot(async () => {}) !== undefined);
    await inRoot(async (folder) => {
      await Deno.mkdir(folder, { mode: 0o755 });
      const mode = async () => ((await Deno.stat(folder)).mode ?? 0) & 0o777;
      assertEquals(await mode(), 0o755);
      await controlFolder();
      assertEquals(await mode(), 0o700);
    });
  },
});

Deno.test({
  name: "controlFolder() refuses symbolic links and files",
  ignore: !isPosix,
  async fn() {
    const elsewhere = await Deno.makeTempDir();
    await Deno.chmod(elsewhere, 0o755);
    await assertRejects(
      () => inRoot((folder) => Deno.symlink(elsewhere, folder)),
      TypeError,
      "it is not a folder",
    );
    assertEquals(((await Deno.stat(elsewhere)).mode ?? 0) & 0o777, 0o755);
    await Deno.remove(elsewhere);
    await assertRejects(
      () => inRoot((folder) => Deno.writeTextFile(folder, "")),
      TypeError,
      "it is not a folder",
    );
  },
});
