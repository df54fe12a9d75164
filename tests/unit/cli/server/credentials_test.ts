import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { warnOfOpenFile } from "../../../../src/cli/server/credentials.ts";
import { LogBook } from "../../../fixtures/log_book.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

const test = (name: string, run: () => Promise<void>) =>
  Deno.test({ name, fn: run, ignore: Deno.build.os === "windows" });

test("a token file that every user can change has a warning at the start, one for a group has none", async () => {
  using folder = new TempFolder();
  const tokenFile = join(folder.path, "tokens");
  await Deno.writeTextFile(tokenFile, "s3cret\n");
  const warnings = async (mode: number) => {
    await Deno.chmod(tokenFile, mode);
    const log = new LogBook();
    await warnOfOpenFile("--token-file", tokenFile, log);
    return log.lines.map(({ message }) => message);
  };
  assertEquals(await warnings(0o640), []);
  const [warning = ""] = await warnings(0o666);
  assertStringIncludes(warning, `--token-file: every user can change it; run: chmod o-w ${tokenFile}`);
});
