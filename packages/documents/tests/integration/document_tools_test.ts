// The tools, as the official client calls them at the real program.
import { Client } from "@modelcontextprotocol/client";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { doorWords } from "../../../../tests/fixtures/door.ts";
import { connectV2, HttpDoor } from "../../../../tests/fixtures/http_door.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { lineOf } from "../../src/tools/document_tools.ts";
import { TestFolder } from "./_folder_documents.ts";

const PATIENCE_MS = 300_000;
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** How a part says where it ends. */
const GO_ON = /go on with pages "(\d+)" and offset (\d+)(?:; pages ([\d,-]+))?/;

interface Item {
  readonly type: string;
  readonly text?: string;
}

class ToolClient implements AsyncDisposable {
  readonly #program: HttpDoor;
  readonly #client: Client;

  private constructor(program: HttpDoor, client: Client) {
    this.#program = program;
    this.#client = client;
  }

  static async open(
    folder: Pick<TestFolder, "path">,
    { name = "test", args = [] as string[] } = {},
  ): Promise<ToolClient> {
    const permissions = [
      "--ignore-env",
      `--allow-read=${folder.path}`,
      "--allow-run",
      "--allow-net=127.0.0.1",
    ];
    const words = [folder.path, "--http", "0", "--no-token", ...args];
    const program = await HttpDoor.start(doorWords("packages/documents/main.ts", words, permissions));
    const client = new Client({ name, version: "1" }, { versionNegotiation: { mode: "auto" } });
    await connectV2(program.url, client);
    return new ToolClient(program, client);
  }

  get hasTools(): boolean {
    return this.#client.getServerCapabilities()?.tools !== undefined;
  }

  /** What the program has logged. */
  get log(): string {
    return this.#program.program.stderr.text;
  }

  async names(): Promise<string[]> {
    return (await this.#client.listTools()).tools.map(({ name }) => name);
  }

  /** The content of an answer, and its texts. */
  async call(name: string, args: Record<string, unknown> = {}) {
    const result = await this.#client.callTool({ name, arguments: args }, { timeout: PATIENCE_MS });
    const content = result.content as Item[];
    return {
      content,
      text: content.map(({ text = "" }) => text).join("\n"),
      isError: result.isError === true,
    };
  }

  /** The answer to a search, when its files have been searched. */
  found(args: Record<string, unknown>, wanted: RegExp): Promise<string> {
    return eventually(
      async () => (await this.call("find_documents", args)).text,
      (text) => wanted.test(text),
      `an answer such as ${wanted}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
    await this.#program[Symbol.asyncDispose]();
  }
}

const ROWS = Array.from(
  { length: 1_200 },
  (_, index) => `A-${index},${index % 2 === 0 ? "East" : "West"},${index}`,
);
const SHEET = ["Order,Region,Yield", ...ROWS, "Z-9,Quince,4321"].join("\n");
const CHAPTERS = Array.from({ length: 30 }, (_, index) => `# Chapter ${index}\n\nAbout thing ${index}.`).join(
  "\n\n",
);

Deno.test("a model finds a row in a long sheet, and reads only that", async () => {
  await using folder = await TestFolder.make({
    "2025/sales.csv": SHEET,
    "notes.md": "# Notes\n\nOf apples.\n",
  });
  await using client = await ToolClient.open(folder);
  assertEquals(await client.names(), ["find_documents", "read_document", "list_documents"]);
  const row = /page 3 \(index 2\).*element p2-table-1: "Order \| Region \| Yield" → "Z-9 \| Quince \| 4321"/;
  assertMatch(await client.found({ query: "yield of quince" }, row), /^2025\/sales\.csv/);
  const { text } = await client.call("read_document", { document: "sales.csv", around: "quince" });
  assertMatch(text, /\| Order \| Region \| Yield \|\n\| --- \| --- \| --- \|\n\| Z-9 \| Quince \| 4321 \|/);
  const other = await client.call("read_document", {
    document: "sales.csv",
    element: "p0-table-1",
    around: "A-7",
  });
  assertMatch(other.text, /\| A-7 \| West \| 7 \|/);
  assertEquals(other.text.includes("A-8 "), false);
  await client.found({ query: "apples", document: "notes.md" }, /page 1 \(index 0\).*Of apples/);
  await client.found({ query: "zebra" }, /No page has these words/);
});

Deno.test("a name with spaces is shown as a person writes it", async () => {
  await using folder = await TestFolder.make({ "old files/Contract Miller.md": "# Apples\n\nOf apples.\n" });
  await using client = await ToolClient.open(folder);
  const shown = /^"old files\/Contract Miller\.md": Apples\n/;
  assertMatch(await client.found({ query: "apples" }, /Of apples/), shown);
  assertMatch(
    (await client.call("list_documents")).text,
    /^"old files\/Contract Miller\.md" \("Apples", 1 page/,
  );
  for (const document of ["old files/Contract Miller.md", "Contract%20Miller.md"]) {
    assertMatch((await client.call("read_document", { document })).text, /Of apples/);
  }
});

Deno.test("read_document gives a short document whole, and of a long one the outline", async () => {
  await using folder = await TestFolder.make({
    "long.md": CHAPTERS,
    "short.md": "# Plan\n\nGo.\n",
    "two.md": "# A\n\n## B\n",
  });
  await using client = await ToolClient.open(folder);
  const read = async (args: Record<string, unknown>) => (await client.call("read_document", args)).text;
  assertEquals(await read({ document: "short.md" }), "```\n# Plan\n\nGo.\n```");
  const outline = await read({ document: "long.md" });
  assertMatch(
    outline,
    /It has 30 pages.*\n\n```\n0: Chapter 0\n1: Chapter 1\n[\s\S]*29: Chapter 29\n```/,
  );
  assert(outline.length < 2_000);
  assertMatch(
    await read({ document: "long.md", outline: true, pages: "7-8" }),
    /```\n7: Chapter 7\n8: Chapter 8\n```/,
  );
  assertMatch(
    await read({ document: "long.md", pages: [3, "28-29"] }),
    /Page 4 \(index 3\)[\s\S]*thing 3\.[\s\S]*thing 29\./,
  );
  const wrong = await client.call("read_document", { document: "long.md", pages: "30" });
  assertEquals([wrong.isError, wrong.text.includes("has 30 pages, of indices 0 to 29")], [true, true]);
});

Deno.test("a long page comes in parts of at most 25,000 tokens, each of which says how to go on", async () => {
  const line = "果園的收穫。".repeat(10);
  const text = Array.from({ length: 1_000 }, (_, index) => `${index} ${line}`).join("\n");
  await using folder = await TestFolder.make({ "long.txt": text });
  await using client = await ToolClient.open(folder);
  let read = "";
  let next: Record<string, unknown> | undefined = {};
  while (next !== undefined) {
    const part: string = (await client.call("read_document", { document: "long.txt", ...next })).text;
    assert(part.length < 25_000);
    read += part;
    const more: readonly (string | undefined)[] = GO_ON.exec(part) ?? [];
    const [, page, offset, later = page] = more;
    const [, follow]: readonly (string | undefined)[] = /\[Pages ([\d,-]+) follow/.exec(part) ?? [];
    if (page !== undefined) next = { pages: `${page},${later}`, offset: Number(offset) };
    else next = follow === undefined ? undefined : { pages: follow };
  }
  for (const index of [0, 499, 999]) assert(read.includes(`${index} 果園`), `line ${index}`);
});

Deno.test("a picture comes as a picture", async () => {
  await using folder = await TestFolder.make({ "dot.png": Uint8Array.fromBase64(PIXEL) });
  await using client = await ToolClient.open(folder);
  const { content } = await client.call("read_document", { document: "dot.png" });
  assertEquals(content.map(({ type }) => type), ["text", "text", "image"]);
});

Deno.test("list_documents lists paths, those that changed last first where that is wanted", async () => {
  await using folder = await TestFolder.make({
    "a/one.md": "# One",
    "b/two.md": "two",
    "broken.pdf": "none",
  });
  await using client = await ToolClient.open(folder);
  const list = async (args: Record<string, unknown> = {}) => (await client.call("list_documents", args)).text;
  const all = await eventually(list, (text) => !text.includes("not read yet"), "all files to be read");
  assertMatch(
    all,
    /^a\/one\.md \(.?One.?, 1 page, 20\d\d-\d\d-\d\d\)\nb\/two\.md \(1 page, .*\)\nbroken\.pdf \(Cannot be read: /,
  );
  assertMatch(await list({ path: "B/" }), /^b\/two\.md .*$/);
  assertMatch(await list({ limit: 1 }), /^a\/one\.md .*\n\[3 documents: go on with offset 1\]$/);
  assertEquals((await list({ newest: true })).split("\n").length, 3);
  assertMatch(await list({ path: "zebra" }), /No path has .?zebra/);
});

Deno.test("an empty folder, an empty document and a document without the words say so", async () => {
  await using folder = await TestFolder.make();
  await using client = await ToolClient.open(folder);
  const { text: none } = await client.call("find_documents", { query: "walnuts" });
  assertEquals(none, "There are no documents.");
  await using full = await TestFolder.make({ "empty.md": "", "notes.md": "# Notes\n\nApples.\n" });
  await using other = await ToolClient.open(full);
  const { text: empty } = await other.call("read_document", { document: "empty.md" });
  assertEquals(empty, "The document is empty.");
  const around = { document: "notes.md", around: "walnuts" };
  await eventually(
    async () => (await other.call("read_document", around)).text,
    (text) => text.includes("notes.md has none of the words"),
    "the document to be searched",
  );
});

Deno.test("a folder that is gone is named in every answer, until it is back", async () => {
  await using folder = await TestFolder.make({ "team/a.md": "# Alpha\n\nToner.\n" });
  const [path, elsewhere] = [join(folder.path, "team"), join(folder.path, "moved")];
  await using client = await ToolClient.open({ path });
  const find = async () => (await client.call("find_documents", { query: "toner" })).text;
  await eventually(find, (text) => text.includes("a.md"), "the file to be searched");
  await Deno.rename(path, elsewhere);
  const notice = 'Cannot open documents of "team": no such folder.';
  await eventually(find, (text) => text === notice, "the folder to be missed");
  assertEquals((await client.call("list_documents")).text, notice);
  const read = await client.call("read_document", { document: "a.md" });
  assert(read.isError && read.text.endsWith(notice), read.text);
  assertMatch(client.log, /a folder cannot be read .*no such folder/);
  await Deno.rename(elsewhere, path);
  await eventually(find, (text) => text.includes("a.md"), "the folder to be found again");
  assertMatch(client.log, /a folder can be read again/);
});

Deno.test("what is around words of a document that cannot be read is why it cannot", async () => {
  await using folder = await TestFolder.make({ "broken.docx": "no zip file" });
  await using client = await ToolClient.open(folder);
  const { text, isError } = await client.call("read_document", { document: "broken.docx", around: "pears" });
  assertEquals(isError, true);
  assertMatch(text, /^Cannot complete "read_document": "Cannot read 'broken\.docx': the file is damaged/);
});

Deno.test("a hit whose page was not read in time says so", () => {
  const hit = { docRef: "a", title: "A", page: 3, pageTitle: undefined, elementId: undefined, snippet: "" };
  assertMatch(lineOf(hit), /page 4 \(index 3\) \[words not shown in time/);
  assertEquals(lineOf({ ...hit, pageTitle: "Plan" }).includes("in time"), false);
});

Deno.test("ChatGPT gets search and fetch, whose results lead on", async () => {
  await using folder = await TestFolder.make({ "long.md": CHAPTERS });
  await using client = await ToolClient.open(folder, { name: "openai-mcp" });
  assertEquals((await client.names()).slice(-2), ["search", "fetch"]);
  await client.found({ query: "thing 17" }, /page 18 \(index 17\)/);
  const { results: [first] } = JSON.parse((await client.call("search", { query: "thing 17" })).text);
  assertEquals([first.title, first.id === first.url], ["Chapter 0: Chapter 17", true]);
  const page = JSON.parse((await client.call("fetch", { id: first.id })).text);
  assertEquals([page.id, page.metadata.pages], [first.id, "30"]);
  assertMatch(page.text, /^## Page 18 \(index 17\)[\s\S]*About thing 17\.[\s\S]*About thing 29\./);
});

Deno.test("with --no-tools there are resources alone", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A" });
  await using client = await ToolClient.open(folder, { args: ["--no-tools"] });
  assertEquals(client.hasTools, false);
});
