import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";

const PRELOAD = fromFileUrl(new URL("../../fixtures/suppressed_errors.ts", import.meta.url));
const TEST = `Deno.test("broken", () => {
  using _ = { [Symbol.dispose]() { throw new RangeError("the cleanup failed"); } };
  if (Deno.pid > 0) throw new TypeError("the test failed");
});`;

Deno.test("a test that fails, and whose cleanup fails as well, shows both errors", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/broken_test.js`, TEST);
    const args = ["test", "--no-config", "--no-lock", `--preload=${PRELOAD}`, "broken_test.js"];
    const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: folder }).output();
    const output = new TextDecoder().decode(stdout);
    assertEquals(code, 1);
    assertEquals(["the test failed", "the cleanup failed"].filter((text) => !output.includes(text)), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
