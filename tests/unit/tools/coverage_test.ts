import { assertEquals } from "@std/assert";
import { countLines, removeEmptyProfiles } from "../../../tools/coverage.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

Deno.test("countLines() adds up the lines of all files", () => {
  const lcov = "SF:a.ts\nDA:1,1\nLH:3\nLF:4\nend_of_record\nSF:b.ts\nLH:0\nLF:10\nend_of_record\n";
  assertEquals(countLines(lcov), { found: 14, hit: 3 });
});

Deno.test("countLines() counts nothing in an empty report", () => {
  assertEquals(countLines(""), { found: 0, hit: 0 });
});

Deno.test("removeEmptyProfiles() leaves each profile that was written", async () => {
  using folder = new TempFolder();
  await Deno.writeTextFile(`${folder.path}/a.json`, "{}");
  await Deno.writeTextFile(`${folder.path}/b.json`, "");
  assertEquals(await removeEmptyProfiles(folder.path), 1);
  assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["a.json"]);
});
