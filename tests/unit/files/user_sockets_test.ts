import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { chooseFolder, socketFolder, socketFolders } from "../../../src/files/user_sockets.ts";

Deno.test("chooseFolder() takes the first root that leaves room for a name, and no path of a user", () => {
  assertEquals(chooseFolder([`/${"r".repeat(90)}`, "/tmp"], "../me"), join("/tmp", "a2c-smcp-.._me"));
  assertEquals(chooseFolder(["/run", "/tmp"], "ada"), join("/run", "a2c-smcp-ada"));
});

Deno.test("socketFolders() has the folder that this process uses", () => {
  assert(socketFolders().includes(socketFolder()));
});
