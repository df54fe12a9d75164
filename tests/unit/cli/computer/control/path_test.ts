import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { basename, dirname } from "@std/path";
import { chooseFolder, controlFolder, controlPath } from "../../../../../src/cli/computer/control/path.ts";

const isPosix = Deno.build.os !== "windows";
const bytes = (path: string) => new TextEncoder().encode(path).length;

Deno.test("controlPath() keeps a plain name, and gives others a file of their own", async () => {
  assertEquals(await controlPath("/run/a", "laptop"), "/run/a/laptop.sock");
  for (const name of ["../x", "a/b", "数据", "\ud800", "Laptop", "x".repeat(128), ""]) {
    const path = await controlPath("/run/a", name);
    assertEquals(dirname(path), "/run/a");
    assertMatch(basename(path), /^[\w.%-]*[0-9a-f]{16}\.sock$/);
  }
});

Deno.test("controlPath() tells names apart that are cut, or differ in case alone", async () => {
  const [one, other] = await Promise.all(["1", "2"].map((end) => controlPath("/run", "x".repeat(100) + end)));
  assertNotEquals(one, other);
  const [upper, lower] = await Promise.all(["LAPTOP", "laptop"].map((name) => controlPath("/run", name)));
  assertNotEquals(upper?.toLowerCase(), lower?.toLowerCase());
});

Deno.test("a socket's path is never too long, however long the folder of the system is", async () => {
  for (let length = 1; length < 150; length++) {
    const folder = chooseFolder([`/${"r".repeat(length)}`, "/tmp"], "a user/of many letters");
    for (const name of ["laptop", "x".repeat(128), "数据"]) {
      assert(bytes(await controlPath(folder, name)) <= 103);
    }
  }
  assertEquals(chooseFolder([`/${"r".repeat(90)}`, "/tmp"], "../me"), "/tmp/a2c-smcp-.._me");
});

/** Looks for the folder below a root of this test. */
async function inRoot(prepare: (folder: string) => Promise<void>): Promise<string | undefined> {
  const root = await Deno.makeTempDir();
  const before = Deno.env.get("XDG_RUNTIME_DIR");
  Deno.env.set("XDG_RUNTIME_DIR", root);
  try {
    await prepare(chooseFolder([root], Deno.env.get("USER") ?? Deno.env.get("LOGNAME") ?? "user"));
    return await controlFolder();
  } finally {
    if (before === undefined) Deno.env.delete("XDG_RUNTIME_DIR");
    else Deno.env.set("XDG_RUNTIME_DIR", before);
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test({
  name: "controlFolder() makes a folder for its owner alone, and closes one that was open",
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
  name: "controlFolder() follows no link that somebody planted, and uses no file",
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
