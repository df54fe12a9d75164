import { assert, assertEquals } from "@std/assert";
import {
  mismatchOf,
  type SkillEntry,
  toSkillEntries,
  uriOfFile,
} from "../../../../src/computer/skills/skill_entries.ts";

const digest = `sha256:${"0".repeat(64)}`;

function entry(path: string, resources: unknown = "dynamic", frontmatter: unknown = {}): unknown {
  const name = path.split("/").at(-1);
  const own = typeof frontmatter === "object" ? { name, description: "d", ...frontmatter } : frontmatter;
  return { uri: `skill://${path}/SKILL.md`, frontmatter: own, resources };
}

function files(root: string, ...paths: readonly string[]): unknown[] {
  return ["SKILL.md", ...paths].map((path) => ({ uri: `skill://${root}/${path}`, digest, size: 1 }));
}

function read(...entries: readonly unknown[]): { skills: SkillEntry[]; warned: string[] } {
  const warned: string[] = [];
  return { skills: toSkillEntries(entries, (message) => warned.push(message)), warned };
}

Deno.test("toSkillEntries() takes entries of any scheme, and the paths of their files", () => {
  const { skills, warned } = read(
    entry("acme/refunds", files("acme/refunds", "a%20b.md", "deep/c.txt")),
    { ...entry("x") as object, uri: "github://owner/x/SKILL.md" },
  );
  assertEquals(warned, []);
  assertEquals(skills.map(({ uri, word }) => [uri, word]), [
    ["skill://acme/refunds", "refunds"],
    ["github://owner/x", "x"],
  ]);
  const [first, second] = skills;
  assert(first !== undefined && second !== undefined);
  assertEquals(uriOfFile(first, "a b.md"), "skill://acme/refunds/a%20b.md");
  assertEquals(uriOfFile(first, "deep/c.txt"), "skill://acme/refunds/deep/c.txt");
  assertEquals(uriOfFile(first, "none"), undefined);
  assertEquals(uriOfFile(second, "a b/c#d"), "github://owner/x/a%20b/c%23d");
  assertEquals(uriOfFile(second, ""), undefined);
});

Deno.test("toSkillEntries() prefers none of several skills of one name", () => {
  const { skills } = read(entry("acme/billing/refunds"), entry("acme/support/refunds"), entry("other"));
  assertEquals(skills.map(({ word }) => word), ["acme-billing-refunds", "acme-support-refunds", "other"]);
});

Deno.test("toSkillEntries() leaves out what is not as the extension has it", () => {
  const wrong: readonly unknown[] = [
    null,
    {},
    { ...entry("x") as object, uri: "skill://x" },
    { ...entry("x") as object, uri: "skill:///SKILL.md" },
    entry("x", "dynamic", "text"),
    entry("x", "dynamic", { name: "y" }),
    entry("x", "dynamic", { description: "d".repeat(20_000) }),
    entry("x", null),
    entry("x", []),
    entry("x", files("x", "a").slice(1)),
    entry("x", files("y")),
    entry("x", [...files("x"), ...files("x")]),
    entry("x", files("x", "../secret")),
    entry("x", files("x", "%2e%2e/secret")),
    entry("x", files("x", "a%2Fb")),
    entry("x", files("x", "%")),
    entry("x", files("x", "a?b")),
    entry("x", [{ uri: "skill://x/SKILL.md", digest: "sha256:0", size: 1 }]),
    entry("x", [{ uri: "skill://x/SKILL.md", digest, size: -1 }]),
    entry("x", [{ uri: "skill://x/SKILL.md", digest, size: 17 * 1024 * 1024 }]),
    entry("x", files("x", ...Array.from({ length: 512 }, (_, n) => `${n}`))),
  ];
  const { skills, warned } = read(...wrong);
  assertEquals(skills, []);
  assertEquals(warned.length, wrong.length);
});

Deno.test("mismatchOf() compares the front matter whole, whatever the order of its members", async () => {
  const [skill] =
    read(entry("x", "dynamic", { metadata: { b: [1, "2"], a: true }, day: "2026-01-01" })).skills;
  assert(skill !== undefined);
  const check = (text: string) =>
    mismatchOf(skill, { path: "SKILL.md", bytes: new TextEncoder().encode(`---\n${text}\n---\nbody`) });
  const own = 'day: 2026-01-01\nname: x\nmetadata: {a: true, b: [1, "2"]}\ndescription: d';
  assertEquals(await check(own), undefined);
  for (
    const other of [`${own}\nallowed-tools: "*"`, own.replace("[1", "[2"), own.replace(/^day.*\n/, ""), ": ["]
  ) {
    assertEquals(await check(other), "its front matter is not the one that the MCP server listed");
  }
});
