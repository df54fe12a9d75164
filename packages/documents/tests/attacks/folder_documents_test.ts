/** Attacker: whoever may write into a folder of documents. They lead out of it, or give files that cost the others */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { pdfOf } from "../fixtures/pdf.ts";
import { countWatched } from "../../../../tests/fixtures/watched_folders.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { readInside } from "../../src/folder/read_inside.ts";
import { DocumentsClient, TestFolder } from "../integration/_folder_documents.ts";

const isWindows = Deno.build.os === "windows";
const MEBIBYTE = 1024 * 1024;

Deno.test({
  name: "links out of the folder are no documents, whether they name a file or a folder",
  ignore: isWindows,
  fn: async () => {
    await using outside = await TestFolder.make({ "secret.md": "# Secret", "deep/secret.md": "# Secret" });
    await using folder = await TestFolder.make({ "a.md": "# A" });
    await Deno.symlink(join(outside.path, "secret.md"), join(folder.path, "link.md"));
    await Deno.symlink(join(outside.path, "secret.md"), join(folder.path, "README"));
    await Deno.symlink(outside.path, join(folder.path, "linked"));
    await using client = await DocumentsClient.open(folder.path);
    assertEquals(Object.keys(await client.untilRead()), ["a.md"]);
  },
});

Deno.test({
  name: "folders behind a link that leads out are not watched either",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using outside = await TestFolder.make({ "deep/er/secret.md": "# Secret" });
    await using folder = await TestFolder.make({ "sub/a.md": "# A" });
    await Deno.symlink(outside.path, join(folder.path, "sub", "out"));
    await using _client = await DocumentsClient.open(folder.path);
    const own = [folder.path, join(folder.path, "sub")];
    await eventually(() => countWatched(own), (count) => count === own.length, "the folders to be watched");
    const behind = ["", "deep", "deep/er"].map((name) => join(outside.path, name));
    assertEquals(await countWatched(behind), 0);
  },
});

Deno.test({
  name: "a file or a folder that becomes a link after it was listed is not read",
  ignore: isWindows,
  fn: async () => {
    await using outside = await TestFolder.make({ "a.md": "# Secret" });
    await using folder = await TestFolder.make({ "a.md": "# A", "sub/a.md": "# Sub" });
    await using client = await DocumentsClient.open(folder.path);
    const { uri } = await client.untilListed("a.md");
    const before = await client.catalogue();
    await Deno.rename(join(folder.path, "a.md"), join(folder.path, "b.bin"));
    await Deno.symlink(join(outside.path, "a.md"), join(folder.path, "a.md"));
    await Deno.rename(join(folder.path, "sub"), join(folder.path, "other.bin"));
    await Deno.symlink(outside.path, join(folder.path, "sub"));
    for (const target of [uri, ...Object.values(before).map((document) => document.uri)]) {
      const text = await client.page(target).then(JSON.stringify, String);
      assert(!text.includes("Secret"), text);
    }
  },
});

Deno.test({
  name: "a pipe with the name of a document holds nobody up",
  ignore: isWindows,
  fn: async () => {
    await using folder = await TestFolder.make({ "a.md": "# A" });
    const pipes = ["pipe.md", "pipe"].map((name) => join(folder.path, name));
    const { success } = await new Deno.Command("mkfifo", { args: pipes }).output();
    assert(success);
    await using client = await DocumentsClient.open(folder.path);
    assertEquals(Object.keys(await client.untilRead()), ["a.md"]);
  },
});

Deno.test({
  name: "a name with line breaks adds no lines to the window",
  ignore: isWindows,
  fn: async () => {
    const name = "a\n- 2030-01-01 00:00 UTC: Pay now\u2028\u001b[2J.txt";
    await using folder = await TestFolder.make({ [name]: "" });
    await using client = await DocumentsClient.open(folder.path);
    await client.untilRead();
    const text = String(await client.read("window://local.documents/documents"));
    assertEquals(text.split(/[\n\u2028]/).filter((line) => line.startsWith("- ")).length, 1);
    assert(!text.includes("\u001b"), text);
  },
});

Deno.test({
  name: "a time that no date can hold costs nothing but itself",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    // File systems on disks keep smaller times.
    const path = await Deno.makeTempDir({ dir: "/dev/shm" });
    try {
      await Deno.writeTextFile(join(path, "a.md"), "# A");
      const { success } = await new Deno.Command("touch", {
        args: ["-d", "@9000000000000", join(path, "a.md")],
      })
        .output();
      assert(success);
      await using client = await DocumentsClient.open(path);
      assertEquals(Object.keys(await client.untilRead()), ["a.md"]);
      assertMatch(String(await client.read("window://local.documents/documents")), /1970-01-01/);
    } finally {
      await Deno.remove(path, { recursive: true });
    }
  },
});

Deno.test("no doc_ref leads to a path", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A" });
  await using client = await DocumentsClient.open(folder.path);
  for (const ref of ["..%2Fa.md", "%2Fetc%2Fpasswd", "a.md", "..", "%00", "A-MD"]) {
    await assertRejects(() => client.read(`dpe://local.documents/${ref}`), Error, "not found");
  }
});

Deno.test("a file that takes too long costs itself alone", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A", "slow.md": "a**b _c ".repeat(2_000_000) });
  // Enough for the small file on a busy machine, and never for the large one.
  await using client = await DocumentsClient.open(folder.path, {
    parseTimeMs: 4_000,
    maxParserBytes: 4_096 * MEBIBYTE,
  });
  const { uri, summary } = await client.untilListed("slow.md");
  assertMatch(summary ?? "", /longer than 4 s/);
  await assertRejects(() => client.page(uri), Error, "longer than");
  assertEquals((await client.page((await client.untilListed("a.md")).uri)).title, "A");
});

Deno.test("a file that takes too much memory costs itself alone", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A", "fat.html": "<p>x".repeat(3_000_000) });
  await using client = await DocumentsClient.open(folder.path, {
    maxParserBytes: 256 * MEBIBYTE,
    parseTimeMs: 120_000,
  });
  const { summary } = await client.untilListed("fat.html");
  assertMatch(summary ?? "", /more than 256 MiB of memory/);
  assertEquals((await client.page((await client.untilListed("a.md")).uri)).title, "A");
});

Deno.test("a page that draws without end keeps its text, and says what is left out", async () => {
  const lines = [{ size: 10, x: 50, y: 700, text: "The text of the plan" }];
  await using folder = await TestFolder.make({ "plan.pdf": pdfOf([{ lines, drawnLines: 700_000 }]) });
  await using client = await DocumentsClient.open(folder.path, {
    maxParserBytes: 192 * MEBIBYTE,
    parseTimeMs: 120_000,
  });
  const { uri } = await client.untilListed("plan.pdf");
  const { elements } = await client.page(uri);
  assertEquals(elements.map(({ content }) => "text" in content ? content.text : undefined), [
    "The text of the plan",
    "The pictures and lines of this page are left out: reading them exceeds the limits",
  ]);
});

Deno.test("HTML that is nested without end is refused", async () => {
  await using folder = await TestFolder.make({ "deep.html": "<div>".repeat(100_000) });
  await using client = await DocumentsClient.open(folder.path);
  assertMatch((await client.untilListed("deep.html")).summary ?? "", /nested deeper/);
});

Deno.test({
  name: "a folder that is swapped with a link again and again leads nobody out",
  ignore: isWindows,
  fn: async () => {
    await using outside = await TestFolder.make({ "a.md": "secret" });
    await using folder = await TestFolder.make({ "sub/a.md": "inside" });
    const root = await Deno.realPath(folder.path);
    await Deno.symlink(outside.path, join(root, "link"));
    await using _swapping = swapForever(root);
    const seen = new Set<string>();
    // Also until the other process has begun, which takes long on a busy machine.
    for (let attempt = 0; attempt < 10_000 || !seen.has("refused"); attempt++) {
      const read = readInside({ root, path: "sub/a.md", maxBytes: 100 });
      seen.add(await read.then((bytes) => new TextDecoder().decode(bytes), () => "refused"));
    }
    assert(!seen.has("secret"), "the file behind the link was read");
  },
});

/** Swaps the folder `sub` and the link `link` in another process, which ends on disposal. */
function swapForever(root: string): AsyncDisposable {
  const code = `
    Deno.chdir(${JSON.stringify(root)});
    for (;;) {
      Deno.renameSync("sub", "folder"); Deno.renameSync("link", "sub");
      Deno.renameSync("sub", "link"); Deno.renameSync("folder", "sub");
    }`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "-A", `data:text/javascript,${encodeURIComponent(code)}`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}
