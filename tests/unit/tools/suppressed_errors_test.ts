import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { TempFolder } from "../../fixtures/temp_folder.ts";

const PRELOAD = fromFileUrl(new URL("../../fixtures/suppressed_errors.ts", import.meta.url));
const TEST = `Deno.test("broken", () => {
  using _ = { [Symbol.dispose]() { throw new RangeError("the cleanup failed"); } };
  if (Deno.pid > 0) throw new TypeError("the test failed");
});`;

Deno.test("a test that fails, and whose cleanup fails as well, shows both errors", async () => {
  using folder = new TempFolder();
  await Deno.writeTextFile(`${folder.path}/broken_test.js`, TEST);
  const args = ["test", "--no-config", "--no-lock", `--preload=${PRELOAD}`, "broken_test.js"];
  const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: folder.path }).output();
  const output = new TextDecoder().decode(stdout);
  assertEquals(code, 1);
  assertEquals(["the test failed", "the cleanup failed"].filter((text) => !output.includes(text)), []);
});
