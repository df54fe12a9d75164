import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { SkillFolder } from "../../../../src/computer/skills/folder.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

async function addSkill(folder: string, name: string): Promise<void> {
  await Deno.mkdir(join(folder, name));
  await Deno.writeTextFile(join(folder, name, "SKILL.md"), `---\ndescription: ${name}\n---\n`);
}

/** A folder of skills, which is removed at the end. */
async function withFolder(use: (folder: SkillFolder, path: string) => Promise<void>): Promise<void> {
  using path = new TempFolder();
  await use(new SkillFolder(path.path, { maxListed: 1_000 }), path.path);
}

Deno.test("a list that is asked for during a scan has what has changed since the scan began", async () => {
  await withFolder(async (folder, path) => {
    for (let index = 0; index < 100; index++) await addSkill(path, `skill-${index}`);
    let isScanning = true;
    const first = folder.scan().then(() => isScanning = false);
    const lists = new Map<string, ReturnType<SkillFolder["scan"]>>();
    while (isScanning && lists.size < 500) {
      const name = `late-${lists.size}`;
      await addSkill(path, name);
      lists.set(name, folder.scan());
    }
    await first;
    for (const [late, list] of lists) {
      assertEquals((await list).skills.some(({ name }) => name === late), true, late);
    }
  });
});
