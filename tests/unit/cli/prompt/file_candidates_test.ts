import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { fileCandidates } from "../../../../src/cli/prompt/file_candidates.ts";

Deno.test("fileCandidates() lists what begins so, folders with a slash, hidden ones only when asked for", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const name of ["config.json", "notes.txt", ".cache"]) {
      await Deno.writeTextFile(join(folder, name), "");
    }
    await Deno.mkdir(join(folder, "configs"));
    const list = async (start: string) =>
      (await fileCandidates(`${folder}/${start}`)).map((path) => path.slice(folder.length + 1));
    assertEquals(await list(""), ["config.json", "configs/", "notes.txt"]);
    assertEquals(await list("conf"), ["config.json", "configs/"]);
    assertEquals(await list("."), [".cache"]);
    assertEquals(await list("none/x"), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
