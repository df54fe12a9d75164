import { assertEquals } from "@std/assert";
import { OfficeView } from "../../../src/agent/toolkit/office_view.ts";
import { OfficePrompts } from "../../../src/gateway/prompts.ts";
import { OfficeSkills } from "../../../src/gateway/skills/office_skills.ts";
import { silentLogger } from "../../../src/log.ts";
import { FakeOffice } from "./_fake_office.ts";

Deno.test("OfficePrompts.find() forgets a prompt that its Computer no longer lists", async () => {
  let listed = ["old"];
  const office = new FakeOffice(["laptop"], {
    getPrompts: () => Promise.resolve({ prompts: listed.map((name) => ({ name })) } as never),
    getSkills: () => Promise.resolve([]),
  });
  using view = new OfficeView();
  await view.follow(office);
  const parts = { view, onLate: () => undefined, logger: silentLogger };
  const prompts = new OfficePrompts({
    ...parts,
    skills: new OfficeSkills(parts),
    reserved: [],
    toClientUri: (uri) => uri,
  });
  assertEquals((await prompts.find("old", ["laptop"]))?.prompt, "old");
  listed = ["new"];
  office.emit("updatePrompts", { computer: "laptop" });
  assertEquals((await prompts.find("new", ["laptop"]))?.prompt, "new");
  assertEquals(await prompts.find("old", ["laptop"]), undefined);
});
