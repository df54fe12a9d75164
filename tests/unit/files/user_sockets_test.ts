import { assert, assertEquals } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { userInfo } from "node:os";
import { chooseFolder, socketFolder, socketFolders } from "../../../src/files/user_sockets.ts";

Deno.test("chooseFolder() takes the first root that leaves room for a name, and no path of a user", () => {
  assertEquals(chooseFolder([`/${"r".repeat(90)}`, "/tmp"], "../me"), join("/tmp", "a2c-smcp-.._me"));
  assertEquals(chooseFolder(["/run", "/tmp"], "ada"), join("/run", "a2c-smcp-ada"));
});

Deno.test("a program that was started without the name of its user uses the same folder", async () => {
  const code = `import { socketFolder } from "${new URL(
    "../../../src/files/user_sockets.ts",
    import.meta.url,
  )}";
    console.log(socketFolder());`;
  const { USER: _1, LOGNAME: _2, USERNAME: _3, ...rest } = Deno.env.toObject();
  const folderWith = async (named: Readonly<Record<string, string>>) => {
    const config = fromFileUrl(new URL("../../../deno.json", import.meta.url));
    const args = ["eval", "--ext=ts", "--config", config, code];
    const command = new Deno.Command(Deno.execPath(), { args, clearEnv: true, env: { ...rest, ...named } });
    const { success, stdout, stderr } = await command.output();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  const { username } = userInfo();
  assertEquals(await folderWith({}), await folderWith({ USER: username, USERNAME: username }));
});

Deno.test("socketFolders() has the folder that this process uses", () => {
  assert(socketFolders().includes(socketFolder()));
});
