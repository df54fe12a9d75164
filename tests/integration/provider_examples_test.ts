import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";

const EXAMPLES: readonly { readonly file: string; readonly ending: string }[] = [
  { file: "archive.ts", ending: "one page was built to read an element." },
  { file: "both_revisions.ts", ending: "one change of a window." },
  { file: "desktop.ts", ending: "as the specification requires." },
  { file: "finder.ts", ending: "as the specification requires." },
  { file: "http.ts", ending: "one change of a window." },
  { file: "notes.ts", ending: "the window and the document show it." },
];

for (const { file, ending } of EXAMPLES) {
  Deno.test(`examples/provider/${file} ends with a checked outcome`, async () => {
    const example = fromFileUrl(new URL(`../../examples/provider/${file}`, import.meta.url));
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", example, "--check"],
      stdin: "null",
    }).output();
    const output = new TextDecoder().decode(stdout).trimEnd();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    assert(output.endsWith(ending), output);
  });
}

Deno.test("each example of the provider is run", async () => {
  const folder = new URL("../../examples/provider/", import.meta.url);
  const files = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  assertEquals(files.filter((name) => !name.startsWith("_")).sort(), EXAMPLES.map(({ file }) => file));
});
