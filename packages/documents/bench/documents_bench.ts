/**
 * Measures folders of documents: the first page of a PDF file of 1,000 pages from the start of the server, its last page
 * and a range in the middle of a workbook of 200,000 × 10 cells, read by an MCP client from a server that has neither open;
 * how long 10,000 files of many kinds take to be opened and catalogued, without and with the index of an earlier run; and
 * the search in the text of 10,000 files of some pages: the size of its index, a query with the words around its hits, and
 * a file that changes.
 *
 * ```sh
 * deno run -A bench/documents_bench.ts   # exit code 2 if a figure is above its goal
 * ```
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fromFileUrl, join } from "@std/path";
import { DatabaseSync } from "node:sqlite";
import { openFolderDocuments } from "../mod.ts";
import { eventually } from "../../../tests/fixtures/within.ts";
import { docxOf, xlsxOf } from "../tests/fixtures/office.ts";
import { pdfOf } from "../tests/fixtures/pdf.ts";

const PDF_PAGES = 1_000;
const SHEET_ROWS = 200_000;
const SHEET_COLUMNS = 10;
const FILES = 10_000;
/** As many files as a parser process keeps open; reading them closes every other one. */
const OTHERS = 4;
const ROUNDS = 5;
const HOST = "local.documents";
const GOALS = {
  "first page of a PDF of 1,000 pages, from the start of the server, ms": 1_000,
  "last page of a PDF of 1,000 pages, closed, ms": 200,
  "memory of the server and its parser with that PDF, MB": 300,
  "range in the middle of a sheet of 200,000 rows, closed, ms": 3_000,
  "another range of that sheet, open, ms": 50,
  "folder of 10,000 files opened, ms": 50,
  "10,000 files catalogued, s": 30,
  "10,000 files catalogued with the index, s": 2,
  "index of words, percent of the text": 25,
  "query in 10,000 files, median, ms": 50,
  "changed file found, s": 5,
} as const;

let isGood = true;
function report(name: keyof typeof GOALS, figure: number): void {
  if (figure >= GOALS[name]) isGood = false;
  console.log(`${name}: ${figure < 10 ? figure.toFixed(2) : Math.round(figure)} (below ${GOALS[name]})`);
}

const pdf = pdfOf(Array.from({ length: PDF_PAGES }, (_, page) => ({
  lines: [
    { size: 20, x: 50, y: 740, text: `Chapter ${page + 1}` },
    ...Array.from({ length: 40 }, (_, line) => ({
      size: 10,
      x: 50,
      y: 700 - line * 15,
      text: `Line ${line} of page ${page + 1} tells how the harvest of that year was, and what it cost.`,
    })),
  ],
})));

function workbook(rows: number): Uint8Array<ArrayBuffer> {
  const cell = (row: number, column: number) =>
    `<c r="${String.fromCharCode(65 + column)}${row}"><v>${row * (column + 1)}</v></c>`;
  const lines = Array.from({ length: rows }, (_, at) => {
    const cells = Array.from({ length: SHEET_COLUMNS }, (_, column) => cell(at + 1, column));
    return `<row r="${at + 1}">${cells.join("")}</row>`;
  });
  return xlsxOf({ Big: `<sheetData>${lines.join("")}</sheetData>` });
}

/** A file of the folder of many kinds. */
function fileOf(index: number): readonly [extension: string, content: string | Uint8Array] {
  const text = `The harvest of field ${index} was ${index % 90} tons. It is told in more words than one.`;
  const kinds: readonly (() => readonly [string, string | Uint8Array])[] = [
    () => ["md", `# Field ${index}\n\n${text}\n\n## Costs\n\n- seed\n- water\n`],
    () => ["txt", `Field ${index}\n========\n\n${text}\n`],
    () => ["csv", `field,tons\n${index},${index % 90}\n`],
    () => ["html", `<h1>Field ${index}</h1><p>${text}</p><table><tr><td>1</td></tr></table>`],
    () => ["json", JSON.stringify({ field: index, harvest: { tons: index % 90 }, notes: [text] })],
    () => ["ts", `/** ${text} */\nexport const field = ${index};\n`],
    () => ["docx", docxOf(`<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`)],
    () => ["xlsx", workbook(3)],
    () => ["eml", `From: a@example.com\nSubject: Field ${index}\n\n${text}\n`],
    () => ["pdf", pdfOf([{ lines: [{ size: 10, x: 50, y: 700, text }] }])],
  ];
  return kinds[index % kinds.length]?.() ?? ["txt", text];
}

interface Catalogue {
  readonly documents: readonly {
    readonly uri: string;
    readonly file_uri: string;
    readonly page_count: number;
  }[];
}

async function measurePages(): Promise<void> {
  const folder = await Deno.makeTempDir();
  await Deno.writeFile(join(folder, "long.pdf"), pdf);
  for (let other = 0; other < OTHERS; other++) {
    const page = { lines: [{ size: 10, x: 50, y: 700, text: `other ${other}` }] };
    await Deno.writeFile(join(folder, `other${other}.pdf`), pdfOf([page, page]));
  }
  const door = fromFileUrl(new URL("../main.ts", import.meta.url));
  const transport = new StdioClientTransport({
    command: Deno.execPath(),
    args: ["run", "-A", door, folder, "--host", HOST, "--log-level", "error"],
  });
  const client = new Client({ name: "bench", version: "1" });
  const connectMs = performance.now();
  await client.connect(transport);
  await client.callTool({ name: "read_document", arguments: { document: "long.pdf", pages: "0" } });
  report(
    "first page of a PDF of 1,000 pages, from the start of the server, ms",
    performance.now() - connectMs,
  );
  const read = async (uri: string): Promise<unknown> => {
    const { contents: [content] } = await client.readResource({ uri }, { timeout: 60_000 });
    return content !== undefined && "text" in content ? JSON.parse(content.text) : undefined;
  };
  const listOf = (count: number) =>
    eventually(
      async () => await read(`dpe://${HOST}`) as Catalogue,
      ({ documents }) => documents.length === count && documents.every(({ page_count }) => page_count > 0),
      "every file to be read",
    );
  let { documents } = await listOf(OTHERS + 1);
  const find = (name: string) => {
    const document = documents.find(({ file_uri }) => file_uri.endsWith(name));
    if (document === undefined) throw new TypeError(`No "${name}" in the catalogue`);
    return document;
  };
  /** Opens others in their place. Each page is read once, since it is kept afterwards. */
  const closeLongFiles = async (page: 0 | 1) => {
    for (let other = 0; other < OTHERS; other++) await read(`${find(`other${other}.pdf`).uri}/pages/${page}`);
  };
  const timeOf = async (uri: string) => {
    const startMs = performance.now();
    await read(uri);
    return performance.now() - startMs;
  };
  const long = find("long.pdf");
  await closeLongFiles(0);
  const pdfMs = await timeOf(`${long.uri}/pages/${long.page_count - 1}`);
  report("last page of a PDF of 1,000 pages, closed, ms", pdfMs);
  report("memory of the server and its parser with that PDF, MB", await memoryOf(transport.pid ?? 0));
  await Deno.writeFile(join(folder, "long.xlsx"), workbook(SHEET_ROWS));
  ({ documents } = await listOf(OTHERS + 2));
  const sheet = find("long.xlsx");
  await closeLongFiles(1);
  report(
    "range in the middle of a sheet of 200,000 rows, closed, ms",
    await timeOf(`${sheet.uri}/pages/${sheet.page_count >> 1}`),
  );
  const warm: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    warm.push(await timeOf(`${sheet.uri}/pages/${(sheet.page_count >> 1) + round}`));
  }
  report("another range of that sheet, open, ms", warm.sort((a, b) => a - b)[ROUNDS >> 1] ?? NaN);
  await client.close();
  await Deno.remove(folder, { recursive: true });
}

/** The memory of a process and of those that it has started, in megabytes, without what they share twice; on Linux only. */
async function memoryOf(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return NaN;
  const [rollup, children] = await Promise.all([
    Deno.readTextFile(`/proc/${pid}/smaps_rollup`),
    Deno.readTextFile(`/proc/${pid}/task/${pid}/children`),
  ]);
  const own = Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) / 1_000;
  const others = await Promise.all(
    children.split(" ").filter((child) => child !== "").map((child) => memoryOf(Number(child))),
  );
  return others.reduce((sum, memory) => sum + memory, own);
}

async function measureCatalogue(): Promise<void> {
  const folder = await Deno.makeTempDir();
  const cacheFolder = await Deno.makeTempDir();
  for (let index = 0; index < FILES; index++) {
    const [extension, content] = fileOf(index);
    const path = join(folder, `field ${index}.${extension}`);
    await (typeof content === "string" ? Deno.writeTextFile(path, content) : Deno.writeFile(path, content));
  }
  for (const name of ["10,000 files catalogued, s", "10,000 files catalogued with the index, s"] as const) {
    const startMs = performance.now();
    await using documents = await openFolderDocuments({ folders: [folder], cacheFolder });
    if (name === "10,000 files catalogued, s") {
      report("folder of 10,000 files opened, ms", performance.now() - startMs);
    }
    await documents.listed;
    await eventually(
      () => Promise.resolve(documents.progress),
      ({ files, unread }) => files === FILES && unread === 0,
      "every file to be read",
    );
    report(name, (performance.now() - startMs) / 1_000);
  }
  await Promise.all([folder, cacheFolder].map((path) => Deno.remove(path, { recursive: true })));
}

const VOCABULARY = 30_000;
/** As in English, about two words of five say nothing. */
const SMALL_WORDS = "the of and to in is that it for on with as by at this from".split(" ");
const QUERIES = 100;

/** Numbers from 0 to 1, the same ones in each run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** A word of the vocabulary: the first ones are frequent, as in a language. */
function wordAt(rank: number): string {
  const syllables = "ka lo mi ne ru sa to vi we bo da fe gu ha ji pu ry xo zu cle tra".split(" ");
  let word = "";
  for (let rest = rank + 30; rest > 0; rest = Math.floor(rest / syllables.length)) {
    word += syllables[rest % syllables.length];
  }
  return word;
}

async function measureSearch(): Promise<void> {
  const folder = await Deno.makeTempDir();
  const cacheFolder = await Deno.makeTempDir();
  const random = randomNumbers(34);
  const anyWord = () => wordAt(Math.floor(VOCABULARY ** random()));
  const smallWord = () => SMALL_WORDS[Math.floor(SMALL_WORDS.length * random())];
  const sentence = () =>
    `${Array.from({ length: 15 }, () => random() < 0.4 ? smallWord() : anyWord()).join(" ")}.`;
  let length = 0;
  for (let index = 0; index < FILES; index++) {
    const sections = Array.from({ length: 3 }, () => {
      const paragraphs = Array.from({ length: 3 }, () => Array.from({ length: 5 }, sentence).join(" "));
      return `# ${anyWord()} ${anyWord()}\n\n${paragraphs.join("\n\n")}`;
    });
    const text = sections.join("\n\n");
    length += text.length;
    await Deno.writeTextFile(join(folder, `file ${index}.${index % 2 === 0 ? "md" : "txt"}`), text);
  }
  const { signal } = new AbortController();
  {
    await using documents = await openFolderDocuments({ folders: [folder], cacheFolder });
    const search = (query: string) => documents.search(query, { signal });
    const startMs = performance.now();
    while ((await search("nowhere")).notIndexed > 0) await new Promise((resolve) => setTimeout(resolve, 200));
    console.log(
      `10,000 files of ${Math.round(length / FILES)} characters indexed, s: ${
        Math.round((performance.now() - startMs) / 1_000)
      }`,
    );
    const times: number[] = [];
    for (let query = 0; query < QUERIES; query++) {
      const words = Array.from({ length: 1 + query % 3 }, anyWord).join(" ");
      const startMs = performance.now();
      await search(words);
      times.push(performance.now() - startMs);
    }
    report("query in 10,000 files, median, ms", times.sort((a, b) => a - b)[QUERIES >> 1] ?? NaN);
    const changedMs = performance.now();
    await Deno.writeTextFile(join(folder, "file 7.txt"), "A quincunx was added.");
    await eventually(() => search("quincunx"), ({ total }) => total === 1, "the changed file to be found");
    report("changed file found, s", (performance.now() - changedMs) / 1_000);
  }
  using database = new DatabaseSync(join(cacheFolder, "documents.sqlite"), { readOnly: true });
  const { size } =
    database.prepare("SELECT sum(pgsize) AS size FROM dbstat WHERE name LIKE 'words%' OR name LIKE '%texts%'")
      .get() ?? {};
  report("index of words, percent of the text", 100 * Number(size) / length);
  await Promise.all([folder, cacheFolder].map((path) => Deno.remove(path, { recursive: true })));
}

await measurePages();
await measureCatalogue();
await measureSearch();
Deno.exit(isGood ? 0 : 2);
