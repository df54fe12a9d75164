import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { basename, dirname, join } from "@std/path";
import { controlFolder, controlPath, missingFlags } from "../../../src/cli/socket_folder.ts";
import { chooseFolder } from "../../../src/files/user_sockets.ts";

const bytes = (path: string) => new TextEncoder().encode(path).length;

Deno.test("controlPath() keeps a plain name, and gives others a file of their own", async () => {
  assertEquals(await controlPath("/run/a", "laptop"), join("/run/a", "laptop.sock"));
  for (const name of ["../x", "a/b", "数据", "\ud800", "Laptop", "x".repeat(128), ""]) {
    const path = await controlPath("/run/a", name);
    assertEquals(dirname(path), join("/run/a"));
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
});

Deno.test({
  name: "missingFlags() gives the exact flags that are missing",
  permissions: { env: true, read: true, write: false, net: false },
  ignore: Deno.build.os === "windows",
  async fn() {
    const [write = "", net, ...others] = await missingFlags("laptop");
    assertMatch(write, /^--allow-write=\/.*a2c-smcp-/);
    assertEquals([net, others], [`--allow-net=unix:${write.slice("--allow-write=".length)}/laptop.sock`, []]);
    assertEquals(await missingFlags(), [write, "--allow-net"]);
    assertEquals(await controlFolder("laptop"), undefined);
  },
});
