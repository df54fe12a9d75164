import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { toShownTokens, warnOfOpenFile } from "../../../../src/cli/server/credentials.ts";
import { showTokens } from "../../../../src/cli/server/answers.ts";
import { acceptedBy, TokenFile } from "../../../../src/server/admission/tokens.ts";
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

test("the list of tokens says what a line permits a client of the hub", async () => {
  using folder = new TempFolder();
  const path = join(folder.path, "clients");
  await Deno.writeTextFile(path, "s3cret name=carl offices=lab computers=pc1 rights=read\n0ther name=dora\n");
  const logger = new LogBook();
  await using file = await TokenFile.open(path, { kind: "client", logger, checkIntervalMs: 1 });
  const show = () =>
    showTokens({ tokens: () => Promise.resolve([toShownTokens(acceptedBy(file), "client")]) });
  const { text, failure } = await show();
  const lines = text.split("\n").map((line) => line.trim().split(/ {2,}/));
  assertEquals(lines, [["carl", "client", "lab", "read", "Computers pc1"], [
    "dora",
    "client",
    "all offices",
    "call",
  ]]);
  assertEquals(failure, undefined);
  await Deno.writeTextFile(path, "");
  await logger.until(({ level }) => level === "error");
  const later = await show();
  assertEquals(later.text, text);
  assertStringIncludes(later.failure ?? "", "it contains no token. The former tokens stay in use");
});
