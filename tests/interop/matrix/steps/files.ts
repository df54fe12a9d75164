/** Skills, blobs and uploads. */
import { assert, assertEquals, assertMatch, assertObjectMatch, assertRejects } from "@std/assert";
import { isFrom } from "../../../../src/protocol/version.ts";
import { PeerError } from "../../peer_process.ts";
import type { Office } from "../office.ts";
import { SKILL_FILES } from "../role.ts";
import type { Step } from "../step.ts";

const SKILL = "meet";

function skillsOf(answer: Record<string, unknown>): Record<string, unknown>[] {
  return answer["skills"] as Record<string, unknown>[];
}

async function listSkills(office: Office): Promise<void> {
  const [skill, ...others] = skillsOf(await office.ask("skills"));
  assertEquals(others, []);
  const { name, source, description, license, path } = skill ?? {};
  assertEquals([name, source, description, license], [SKILL, "user", "How to meet", "MIT"]);
  assertMatch(String(path), /\/meet$/);
  if (isFrom(office.minor, "0.4")) assertEquals(skill?.["tags"], ["interop"]);
}

async function readSkill(office: Office): Promise<void> {
  const entry = await office.ask("skill", { name: SKILL });
  assertObjectMatch(entry, {
    name: SKILL,
    rel_path: "SKILL.md",
    mime_type: "text/markdown",
    body: "\n# Meet\n",
  });
  const notes = await office.ask("skill", { name: SKILL, rel_path: "notes.txt" });
  assertEquals(notes["body"], SKILL_FILES["notes.txt"]);
}

async function readLargeSkill(office: Office): Promise<void> {
  const logo = await office.ask("skill", { name: SKILL, rel_path: "logo.png" });
  const handle = logo["blob_handle"];
  const content = await office.agent.command({ command: "blob", computer: office.computerName, handle });
  const bytes = SKILL_FILES["logo.png"];
  assert(bytes instanceof Uint8Array && content === bytes.toBase64(), "not the bytes of the file");
}

async function refuseSkills(office: Office): Promise<void> {
  const refusals = [
    [{ name: "Bad Name" }, 4016],
    [{ name: "nope" }, 4014],
    [{ name: SKILL, rel_path: "../meet/SKILL.md" }, 4017],
    [{ name: SKILL, rel_path: "nope.md" }, 4017],
  ] as const;
  for (const [body, code] of refusals) {
    const error = await assertRejects(() => office.ask("skill", body), PeerError);
    assertMatch(error.message, new RegExp(`\\b${code}\\b`));
  }
}

async function refuseBlob(office: Office): Promise<void> {
  const body = { command: "blob", computer: office.computerName, handle: "nope" };
  const error = await assertRejects(() => office.agent.command(body), PeerError);
  assertMatch(error.message, /\b4018\b/);
}

async function hearOfSkills(office: Office): Promise<void> {
  office.agent.takeEvents();
  await Deno.mkdir(`${office.folders.skills}/part`);
  await Deno.writeTextFile(`${office.folders.skills}/part/SKILL.md`, "---\ndescription: How to part\n---\n");
  while (skillsOf(await office.ask("skills")).length < 2) {
    await office.agent.nextEvent("notify:update_skills");
  }
}

async function upload(office: Office): Promise<void> {
  for (const sizeBytes of [1, 300_000]) {
    const content = Uint8Array.from({ length: sizeBytes }, (_, index) => index % 251);
    const answer = await office.ask("put_blob", { data: content.toBase64(), name: "report.txt" });
    assertEquals(answer["total_size"], sizeBytes);
    const path = String(answer["landing_path"]);
    assertMatch(path, /report\.txt$/);
    assertEquals(await Deno.readFile(path), content);
  }
}

/** In the order in which they run. */
export const fileSteps: readonly Step[] = [
  { id: "skills", title: "List of skills", run: listSkills },
  { id: "skill", title: "Texts of a skill", run: readSkill },
  { id: "skill-blob", title: "Large file of a skill", run: readLargeSkill },
  { id: "skill-errors", title: "4014, 4016 and 4017 of skills", run: refuseSkills },
  { id: "blob-errors", title: "4018 of blobs", run: refuseBlob },
  { id: "update-skills", title: "Notification of changed skills", run: hearOfSkills },
  { id: "put-blob", title: "Uploads", from: "0.4", run: upload },
];
