import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { readInputFile } from "../../../../src/cli/computer/input_file.ts";

const isPosix = Deno.build.os !== "windows";

async function withFile(text: string, mode: number, work: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "inputs.json");
    await Deno.writeTextFile(path, text);
    if (isPosix) await Deno.chmod(path, mode);
    await work(path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("values of inputs come from a private JSON file, with their types", async () => {
  await withFile('{ "key": "s3cret", "port": 8080, "fast": true }', 0o600, async (path) => {
    assertEquals([...await readInputFile(path)], [["key", "s3cret"], ["port", 8080], ["fast", true]]);
  });
});

Deno.test({
  name: "a file that others can read is refused, with what to do",
  ignore: !isPosix,
  async fn() {
    for (const mode of [0o640, 0o604, 0o666]) {
      await withFile('{ "key": "s3cret" }', mode, async (path) => {
        const error = await assertRejects(() => readInputFile(path), TypeError, `chmod 600 ${path}`);
        assertEquals(error.message.includes("s3cret"), false);
      });
    }
  },
});

Deno.test("what is no object of plain values is refused without showing it", async () => {
  for (const text of ["s3cret", '["s3cret"]', '{ "key": { "a": "s3cret" } }', '{ "key": null }', "{"]) {
    await withFile(text, 0o600, async (path) => {
      const error = await assertRejects(() => readInputFile(path), TypeError, "it must be a JSON object");
      assertEquals(error.message.includes("s3cret"), false);
    });
  }
});

Deno.test("a missing file and a folder are refused by name", async () => {
  await assertRejects(() => readInputFile("/no/such/inputs.json"), TypeError, '"/no/such/inputs.json"');
  await assertRejects(() => readInputFile("/"), TypeError, "Cannot read inputs");
});
