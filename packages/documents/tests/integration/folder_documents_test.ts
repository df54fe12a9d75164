import { createLogger } from "@a2c-smcp/sdk/base";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { openFolderDocuments } from "../../mod.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { DocumentsClient, TestFolder } from "./_folder_documents.ts";

const REPORT =
  "# Annual report\n\nRevenue rose. Costs fell.\n\n## North\n\nWell.\n\n## South\n\n| a |\n| - |\n| 1 |\n";

Deno.test("the files of a folder are documents with pages and elements", async () => {
  await using folder = await TestFolder.make({ "2026/report.md": REPORT });
  await using client = await DocumentsClient.open(folder.path);
  const { uri, title, page_count, summary, keywords, file_type } = await client.untilListed("report.md");
  assertEquals({ title, page_count, summary, file_type }, {
    title: "Annual report",
    page_count: 3,
    summary: "Revenue rose. Costs fell. Well.",
    file_type: "md",
  });
  assertEquals(keywords, ["report", "Annual report", "North", "South"]);
  const { pages } = await client.readObject<{ pages: unknown[] }>(`${uri}?depth=pages&offset=1`);
  assertEquals(pages.length, 2);
  const page = await client.page(uri, 2);
  assertEquals(page.elements.map(({ element_id }) => element_id), ["p2-heading-1", "p2-table-1"]);
  const element = await client.readObject<{ page_index: number }>(
    `${uri}/elements/p2-table-1?format=markdown`,
  );
  assertEquals(element.page_index, 2);
});

Deno.test("hidden files, packages, lock files and programs are no documents", async () => {
  await using folder = await TestFolder.make({
    "a.md": "a",
    ".hidden.md": "a",
    ".git/a.md": "a",
    "node_modules/x/readme.md": "a",
    "~$a.md": "a",
    "program.exe": "a",
    "drafts/b.md": "b",
    "c.txt": "c",
  });
  await using client = await DocumentsClient.open(folder.path, {
    exclude: ["drafts/**"],
    include: ["**/*.md"],
  });
  assertEquals(Object.keys(await client.catalogue()), ["a.md"]);
});

Deno.test("what .gitignore files name is left out where that is asked for", async () => {
  await using folder = await TestFolder.make({
    ".gitignore": "*.log.txt\nbuild/\n",
    "a.txt": "a",
    "b.log.txt": "b",
    "build/c.txt": "c",
    "sub/.gitignore": "!keep.log.txt\n",
    "sub/keep.log.txt": "d",
  });
  await using client = await DocumentsClient.open(folder.path, { gitignore: true });
  assertEquals(Object.keys(await client.catalogue()).toSorted(), ["a.txt", "keep.log.txt"]);
});

Deno.test("a rule that .gitignore does not name any more holds no longer", async () => {
  await using folder = await TestFolder.make({ ".gitignore": "b.txt\n", "a.txt": "a", "b.txt": "b" });
  await using client = await DocumentsClient.open(folder.path, { gitignore: true });
  assertEquals(Object.keys(await client.catalogue()), ["a.txt"]);
  await folder.write(".gitignore", "a.txt\n");
  // While it is written the file is empty, and both are listed.
  const listed = async () => Object.keys(await client.catalogue()).join();
  await eventually(listed, (names) => names === "b.txt", "b.txt alone");
});

Deno.test("a doc_ref stays when the server starts again, the file is edited and the folder is renamed", async () => {
  await using around = await TestFolder.make({ "old/a.md": "# A" });
  const refOf = async (folder: string) => {
    await using client = await DocumentsClient.open(join(around.path, folder));
    return (await client.untilListed("a.md")).doc_ref;
  };
  const first = await refOf("old");
  await around.write("old/a.md", "# Another");
  assertEquals(await refOf("old"), first);
  await Deno.rename(join(around.path, "old"), join(around.path, "new"));
  assertEquals(await refOf("new"), first);
});

Deno.test("an edit tells of its document, also when the editor replaces the file", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A", "b.md": "# B" });
  await using client = await DocumentsClient.open(folder.path);
  await client.untilRead();
  const { uri } = await client.untilListed("a.md");
  const other = await client.untilListed("b.md");
  await client.subscribe(uri);
  await client.subscribe(other.uri);
  client.told.length = 0;

  await folder.write("a.md", "# A, edited");
  await eventually(
    async () => (await client.untilListed("a.md")).title,
    (title) => title === "A, edited",
    "the edit",
  );
  await eventually(() => client.told, (told) => told.includes(uri), "the notification of the edit");

  client.told.length = 0;
  await folder.write("a.tmp", "# A, replaced");
  await Deno.rename(join(folder.path, "a.tmp"), join(folder.path, "a.md"));
  await eventually(() => client.told, (told) => told.includes(uri), "the notification of the replacement");
  await eventually(
    async () => (await client.page(uri)).title,
    (title) => title === "A, replaced",
    "the new page",
  );
  assert(!client.told.includes(other.uri));
});

Deno.test("added, moved and removed files change the list", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A" });
  await using client = await DocumentsClient.open(folder.path);
  await client.untilRead();
  client.told.length = 0;
  await folder.write("new/deep/b.md", "# B");
  await client.untilListed("b.md");
  await eventually(() => client.told, (told) => told.includes("list"), "the notification of the addition");
  await Deno.rename(join(folder.path, "new"), join(folder.path, "moved"));
  await eventually(
    async () => (await client.catalogue())["b.md"]?.file_uri ?? "",
    (uri) => uri.includes("/moved/"),
    "the move",
  );
  await Deno.remove(join(folder.path, "moved"), { recursive: true });
  await eventually(
    async () => Object.keys(await client.catalogue()),
    (names) => names.length === 1,
    "the removal",
  );
});

Deno.test("a file that cannot be read stays in the catalogue, with the reason", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A", "bad.txt": new Uint8Array([65, 0, 66]) });
  await using client = await DocumentsClient.open(folder.path);
  const { uri, summary } = await client.untilListed("bad.txt");
  assertMatch(summary ?? "", /^Cannot be read: the file is binary data/);
  await assertRejects(() => client.page(uri), Error, 'Cannot read "bad.txt": the file is binary data');
  assertEquals((await client.page((await client.untilListed("a.md")).uri)).title, "A");
});

Deno.test("a file above the limit is listed, and reading it says which option raises it", async () => {
  await using folder = await TestFolder.make({ "big.txt": "x".repeat(2_000) });
  await using client = await DocumentsClient.open(folder.path, { maxFileBytes: 1_000 });
  const { uri } = await client.untilListed("big.txt");
  await assertRejects(() => client.page(uri), Error, "--max-file-size");
});

Deno.test("what pages do not show is said on the first page", async () => {
  await using folder = await TestFolder.make({ "a.html": "<p>Text</p><canvas></canvas>" });
  await using client = await DocumentsClient.open(folder.path);
  const page = await client.page((await client.untilListed("a.html")).uri);
  assertEquals(page.elements.map(({ element_id, content }) => [element_id, content]), [
    ["p0-text-1", { text: "Text" }],
    ["p0-loss-1", { text: "1 part of a kind that is not read: drawing" }],
  ]);
});

Deno.test("what was read is kept between runs, and read anew when the index is damaged", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A", "b.md": "# B" });
  await using cache = await TestFolder.make();
  const cacheFolder = join(cache.path, "index");
  {
    await using first = await DocumentsClient.open(folder.path, { cacheFolder });
    await first.untilRead();
  }
  {
    await using second = await DocumentsClient.open(folder.path, { cacheFolder });
    assertEquals(Object.values(await second.catalogue()).map(({ title }) => title), ["A", "B"]);
  }
  const file = join(cacheFolder, "documents.sqlite");
  if (Deno.build.os !== "windows") assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
  await Deno.writeTextFile(file, "no database");
  await using third = await DocumentsClient.open(folder.path, { cacheFolder });
  assertEquals(Object.keys(await third.untilRead()), ["a.md", "b.md"]);
});

Deno.test("a file that exceeds a limit is read anew with another limit", async () => {
  await using folder = await TestFolder.make({ "big.txt": "Long text. ".repeat(1_000) });
  await using cache = await TestFolder.make();
  const cacheFolder = cache.path;
  {
    await using small = await DocumentsClient.open(folder.path, { cacheFolder, maxFileBytes: 2_048 });
    assertMatch((await small.untilListed("big.txt")).summary ?? "", /11 KiB, more than 2 KiB/);
  }
  await using large = await DocumentsClient.open(folder.path, { cacheFolder });
  const { summary } = (await large.untilRead())["big.txt"] ?? {};
  assertMatch(summary ?? "", /^Long text/);
});

Deno.test("a server that is stopped while it reads files says nothing of them at its next start", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `${index}.txt`);
  await using folder = await TestFolder.make(
    Object.fromEntries(names.map((name) => [name, `Text ${name}.`])),
  );
  await using cache = await TestFolder.make();
  const cacheFolder = cache.path;
  await (await DocumentsClient.open(folder.path, { cacheFolder }))[Symbol.asyncDispose]();
  await using second = await DocumentsClient.open(folder.path, { cacheFolder });
  for (const { summary } of Object.values(await second.untilRead())) assertMatch(summary ?? "", /^Text/);
});

Deno.test("the window shows which documents changed last", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A" });
  await using client = await DocumentsClient.open(folder.path);
  await client.untilRead();
  const text = await client.read("window://local.documents/documents");
  assertMatch(String(text), /1 document\b.*\n\n- \S+ \S+ UTC: A \(a\.md\) <dpe:/s);
});

Deno.test("a client that asks at once gets all documents, also in the window, by the name of their folder", async () => {
  await using folder = await TestFolder.make({ "My Reports/a.md": "# A", "My Reports/b.md": "# B" });
  const folders = [join(folder.path, "My Reports")];
  await using documents = await openFolderDocuments({ folders, parsers: 1 });
  const server = new McpServer({ name: "documents", version: "1" });
  documents.attach(server);
  const client = new Client({ name: "test", version: "1" });
  const [left, right] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(left), client.connect(right)]);
  const [{ resources }, { contents: [window] }] = await Promise.all([
    client.listResources(),
    client.readResource({ uri: "window://local.documents.my-reports/documents" }),
  ]);
  await client.close();
  assertEquals(resources.length, 3);
  assert(window !== undefined && "text" in window);
  assertMatch(window.text, /2 documents/);
});

Deno.test("an include glob that fits no file is named, with the one that was probably meant", async () => {
  await using folder = await TestFolder.make({ "below/a.md": "a", "b.txt": "b", "below/c.txt": "c" });
  const lines: string[] = [];
  await using documents = await openFolderDocuments({
    folders: [folder.path],
    include: ["**/*.txt", "b.*", "*.md"],
    logger: createLogger({ format: "json", write: (line) => void lines.push(line) }),
  });
  await documents.listed;
  assertEquals(documents.progress.files, 2);
  const warnings = lines.map((line) => JSON.parse(line)).filter(({ message }) =>
    message.includes("fits no file")
  );
  assertEquals(warnings.map(({ include }) => include), ["*.md"]);
  assertMatch(warnings[0].hint, /"\*\*\/\*\.md" would/);
});

Deno.test("folders that do not exist, files and useless globs are refused", async () => {
  await using folder = await TestFolder.make({ "a.md": "a" });
  const refused = async (options: Parameters<typeof openFolderDocuments>[0]) =>
    (await assertRejects(() => openFolderDocuments(options), TypeError)).message;
  assertMatch(await refused({ folders: [join(folder.path, "none")] }), /no such folder/);
  assertMatch(await refused({ folders: [join(folder.path, "a.md")] }), /it is a file/);
  assertMatch(await refused({ folders: [] }), /no folder is given/);
  assertMatch(await refused({ folders: [folder.path], include: ["/etc/*"] }), /not a path within the folder/);
  assertMatch(
    await refused({ folders: [folder.path], exclude: ["x/*a*b*c*.md"] }),
    /more than 3 stars between two slashes/,
  );
});
