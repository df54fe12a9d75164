import { assert, assertEquals } from "@std/assert";
import { type SkillResource, toSkills } from "../../../../src/computer/skills/server_skills.ts";

function root(uri: string, source = "resources"): SkillResource {
  return { uri, _meta: { source } };
}

/** The files of each skill, by its URI. */
function filesOf(...resources: SkillResource[]): Record<string, Record<string, string>> {
  const skills = toSkills(resources, () => {});
  return Object.fromEntries(skills.map(({ uri, files }) => [uri, Object.fromEntries(files)]));
}

Deno.test("toSkills() gives each file to the outermost skill that it lies below, in the order of the list", () => {
  const files = filesOf(
    root("skill://s/b"),
    { uri: "skill://s/a/SKILL.md" },
    root("skill://s/a"),
    root("skill://s/a/inner"),
    { uri: "skill://s/a/inner/x.txt" },
    { uri: "skill://s/a-b/x.txt" },
    { uri: "skill://s/a!/x.txt" },
    { uri: "skill://s/b/" },
    { uri: "skill://s/b//y" },
    { uri: "skill://t/none" },
  );
  assertEquals(Object.keys(files), ["skill://s/b", "skill://s/a"]);
  assertEquals(files, {
    "skill://s/b": { "/y": "skill://s/b//y" },
    "skill://s/a": {
      "SKILL.md": "skill://s/a/SKILL.md",
      inner: "skill://s/a/inner",
      "inner/x.txt": "skill://s/a/inner/x.txt",
    },
  });
});

Deno.test("toSkills() warns of sources that are not supported, and takes no skill without a path", () => {
  const warned: string[] = [];
  const resources = [root("skill://s/m", "mounted"), root("skill://s"), root("skill://s/x", "other")];
  assertEquals(toSkills(resources, (_message, uri) => warned.push(uri)), []);
  assertEquals(warned, ["skill://s/m"]);
});

Deno.test("toSkills() takes no longer for many long paths than their length", () => {
  const resources = Array.from(
    { length: 100 },
    (_, index) => ({ uri: `skill://s/${index}/${"a/".repeat(30_000)}` }),
  );
  const startMs = performance.now();
  assertEquals(toSkills([root("skill://s/x/y"), ...resources], () => {}).length, 1);
  // A look at each prefix of each path took two minutes.
  assert(performance.now() - startMs < 20_000);
});
