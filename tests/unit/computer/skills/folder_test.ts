import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { SkillFolder } from "../../../../src/computer/skills/folder.ts";

async function addSkill(folder: string, name: string): Promise<void> {
  await Deno.mkdir(join(folder, name));
  await Deno.writeTextFile(join(folder, name, "SKILL.md"), `---\ndescription: ${name}\n---\n`);
}

Deno.test("a scan tells whether the skills differ from those of the last one, until that was announced", async () => {
  const path = await Deno.makeTempDir();
  try {
    const folder = new SkillFolder(path, { maxSkills: 10 });
    const hasChanged = async () => (await folder.scan()).hasChanged;
    await addSkill(path, "one");
    assertEquals([await hasChanged(), await hasChanged()], [false, false]);
    await addSkill(path, "two");
    assertEquals([await hasChanged(), await hasChanged()], [true, false]);
    await addSkill(path, "three");
    folder.onAnnounced();
    assertEquals([await hasChanged(), await hasChanged()], [false, false]);
    await addSkill(path, "four");
    assertEquals([await hasChanged(), await hasChanged()], [true, false]);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
});
