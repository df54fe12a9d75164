/** Attacker: a local user. They make the folder of somebody else's control sockets, and listen there in their place */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { TempFolder } from "../fixtures/temp_folder.ts";

const MODULE = new URL("../../src/cli/socket_folder.ts", import.meta.url).href;
const CONFIG = fromFileUrl(new URL("../../deno.json", import.meta.url));
/** A user that is not the one who runs this test. */
const NOBODY = 65_534;
const isRoot = Deno.build.os !== "windows" && Deno.uid() === 0;

/** Looks for the folder in a process with README's permissions and, where it is asked for, the one to know its user. */
async function look(root: string, more: readonly string[]): Promise<string> {
  const script = join(root, "look.ts");
  await Deno.writeTextFile(
    script,
    `import { controlFolder } from ${JSON.stringify(MODULE)};
     console.log(await controlFolder().catch((error) => error.message));`,
  );
  const permissions = ["--allow-net", "--allow-env", "--allow-read", "--allow-write", "--allow-run", ...more];
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", "--quiet", "--config", CONFIG, ...permissions, script],
    env: { XDG_RUNTIME_DIR: root, USER: "ada" },
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

for (const more of [[], ["--allow-sys=uid"]]) {
  const how = more.length === 0 ? "without the permission to know its user" : "with all permissions";
  Deno.test({
    name: `a folder of somebody else is refused, also as root, ${how}`,
    // Only root can make a folder somebody else's.
    ignore: !isRoot,
    async fn() {
      using root = new TempFolder();
      const folder = join(root.path, "a2c-smcp-ada");
      await Deno.mkdir(folder, { mode: 0o777 });
      await Deno.chown(folder, NOBODY, NOBODY);
      assertStringIncludes(await look(root.path, more), "belongs to another user");
      assertEquals([...Deno.readDirSync(folder)], []);
    },
  });

  Deno.test({
    name: `a folder of one's own is taken and closed, ${how}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      using root = new TempFolder();
      const folder = join(root.path, "a2c-smcp-ada");
      await Deno.mkdir(folder, { mode: 0o755 });
      assertEquals(await look(root.path, more), folder);
      assertEquals(((await Deno.stat(folder)).mode ?? 0) & 0o777, 0o700);
      assertEquals([...Deno.readDirSync(folder)], []);
    },
  });
}
