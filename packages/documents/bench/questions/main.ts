/**
 * Answers questions about five folders by the tools of our server of documents, and by those of markitdown's, without a
 * model: by the same steps for all questions, which end as soon as the answer is in what was returned. Counts calls and
 * tokens: characters / 4 of the arguments and of the texts that come back. Needs Python 3.10 or later with `venv`.
 *
 * ```sh
 * deno run -A bench/questions/main.ts                    # exit code 2 if a goal is missed
 * deno run -A bench/questions/main.ts contracts office   # only the questions about these folders
 * ```
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fromFileUrl, join, toFileUrl } from "@std/path";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { type Question, QUESTIONS, SHORT_FILES } from "./questions.ts";

const HERE = fromFileUrl(new URL(".", import.meta.url));
const VENV = fromFileUrl(new URL("../../../../.venv-questions", import.meta.url));
/** The most share of their tokens over all questions, and of the tokens of any short file. */
const GOALS = { allQuestions: 1 / 5, shortFile: 1.2 } as const;
/** The pages after the first hit that are read where it has only the beginning of an answer. */
const NEXT_PAGES = 8;
const HITS = 3;
/** The longest answer, in tokens, that clients such as Claude Code take from a tool. */
const FITS = 25_000;

/** A counted: what it cost, and what it returned. */
class CountedClient {
  calls = 0;
  #sent = 0;
  #returned: string[] = [];

  constructor(readonly client: Client) {}

  async call(name: string, args: Record<string, unknown>): Promise<string> {
    const { content } = await this.client.callTool({ name, arguments: args }, { timeout: 600_000 });
    const text = content.map((part) => part.type === "text" ? part.text : "").join("\n");
    this.calls++;
    this.#sent += JSON.stringify(args).length + name.length;
    this.#returned.push(text);
    return text;
  }

  get tokens(): number {
    return Math.round(this.#returned.reduce((sum, text) => sum + text.length, this.#sent) / 4);
  }

  /** Whether all texts of an answer were returned, whatever marks of Markdown stand in them. */
  has(answer: readonly string[]): boolean {
    const text = plain(this.#returned.join("\n"));
    return answer.every((part) => text.includes(plain(part)));
  }
}

function plain(text: string): string {
  return text.replace(/[\\|*`]|<br>/g, " ").replace(/\s+/g, " ");
}

interface Result {
  readonly calls: number;
  readonly tokens: number;
  readonly isFound: boolean;
}

function resultOf(counted: CountedClient, answer: readonly string[]): Result {
  return { calls: counted.calls, tokens: counted.tokens, isFound: counted.has(answer) };
}

/**
 * A search in the folder, one in the document that fits best, what is around the words on the pages that fit best, and the
 * pages behind the first of them.
 */
async function askOurs(client: Client, { query, answer }: Question): Promise<Result> {
  const counted = new CountedClient(client);
  const found = placesOf(await counted.call("find_documents", { query }));
  const steps = function* (): Generator<readonly [tool: string, args: Record<string, unknown>]> {
    const [first] = found;
    if (first === undefined) return;
    yield ["find_documents", { query, document: first.document }];
    for (const { document, page } of found.slice(0, HITS)) {
      yield ["read_document", { document, pages: `${page}`, around: query }];
    }
    yield ["read_document", { document: first.document, pages: `${first.page}-${first.page + NEXT_PAGES}` }];
  };
  for (const step of steps()) {
    if (counted.has(answer)) break;
    await counted.call(...step);
  }
  return resultOf(counted, answer);
}

/** The pages that `find_documents` names, by their index: a line for each, below that of its document. */
function placesOf(found: string): { readonly document: string; readonly page: number }[] {
  let document = "";
  return found.split("\n").flatMap((line) => {
    const page = /^ {2}page \S+ \(index (\d+)\)/.exec(line)?.[1];
    if (page !== undefined) return [{ document, page: Number(page) }];
    document = /^\S+(?=: |$)/.exec(line)?.[0] ?? document;
    return [];
  });
}

/** What markitdown has made of each file; a long one takes minutes. */
const converted = new Map<string, CountedClient>();

/** markitdown's server has no list and no search: its client is told the file that has the answer. */
async function askMarkitdown(client: Client, folder: string, { file, answer }: Question): Promise<Result> {
  const uri = toFileUrl(join(folder, file)).href;
  const before = converted.get(uri);
  if (before !== undefined) return resultOf(before, answer);
  const counted = new CountedClient(client);
  converted.set(uri, counted);
  await counted.call("convert_to_markdown", { uri });
  return resultOf(counted, answer);
}

async function openClient(command: string, args: readonly string[]): Promise<Client> {
  const client = new Client({ name: "questions", version: "1" });
  await client.connect(new StdioClientTransport({ command, args: [...args], stderr: "ignore" }));
  return client;
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(command, { args, stdout: "null" }).output();
  if (!success) throw new Error(`Cannot run "${command} ${args.join(" ")}"`);
}

/** Installs markitdown and the libraries that make the folders. Returns the folder of their programs. */
async function install(): Promise<string> {
  const programs = join(VENV, Deno.build.os === "windows" ? "Scripts" : "bin");
  await run("python3", "-m", "venv", VENV);
  await run(join(programs, "python"), "-m", "pip", "install", "-q", "-r", join(HERE, "requirements.txt"));
  return programs;
}

/** Makes the folders; that of source code is this package's own. */
async function makeFolders(programs: string): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "questions-" });
  await run(join(programs, "python"), join(HERE, "folders.py"), root);
  await copyFolder(fromFileUrl(new URL("../../src", import.meta.url)), join(root, "code"));
  return root;
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    await (isDirectory ? copyFolder : Deno.copyFile)(join(from, name), join(to, name));
  }
}

/** The table of all questions. Returns whether the goals are met. */
async function compareQuestions(root: string, theirs: Client): Promise<boolean> {
  const sums = { ours: 0, theirs: 0 };
  const fitting = { ours: 0, theirs: 0 };
  let isAsGood = true;
  console.log(
    "| question | file | ours: calls | tokens | found | markitdown: calls | tokens | found | share |",
  );
  console.log("| --- | --- | ---: | ---: | --- | ---: | ---: | --- | ---: |");
  const asked = QUESTIONS.filter(({ folder }) => Deno.args.length === 0 || Deno.args.includes(folder));
  for (const [folder, questions] of Map.groupBy(asked, ({ folder }) => folder)) {
    const ours = await openOurs(join(root, folder));
    for (const question of questions) {
      const own = await askOurs(ours, question);
      const other = await askMarkitdown(theirs, join(root, folder), question);
      sums.ours += own.tokens;
      sums.theirs += other.tokens;
      if (other.tokens <= FITS) {
        fitting.ours += own.tokens;
        fitting.theirs += other.tokens;
      }
      isAsGood &&= own.isFound || !other.isFound;
      const share = `${(own.tokens / other.tokens * 100).toPrecision(2)} %`;
      const cells = [
        `${question.kind}: ${question.query}`,
        question.file,
        ...cellsOf(own),
        ...cellsOf(other),
        share,
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
    await ours.close();
  }
  const share = sums.ours / sums.theirs;
  console.log(
    `\nTokens of all questions: ${sums.ours} and ${sums.theirs}, 1/${Math.round(1 / share)} (at most 1/5)`,
  );
  const shareOfFitting = fitting.ours / fitting.theirs;
  console.log(
    `Of those about files up to ${FITS} tokens: 1/${Math.round(1 / shareOfFitting)} (at most 1/5)\n`,
  );
  return isAsGood && Math.max(share, shareOfFitting) <= GOALS.allQuestions;
}

/** The table of the short files, each read as a whole by its path. Returns whether the goal is met. */
async function compareShortFiles(root: string, theirs: Client): Promise<boolean> {
  const folder = join(root, "short");
  const ours = await openOurs(folder);
  let isGood = true;
  console.log("| short file | ours: tokens | markitdown: tokens | ratio |\n| --- | ---: | ---: | ---: |");
  for (const file of SHORT_FILES) {
    const own = new CountedClient(ours);
    await own.call("read_document", { document: file });
    const other = await askMarkitdown(theirs, folder, { kind: "", folder, file, query: "", answer: [] });
    const ratio = own.tokens / other.tokens;
    isGood &&= ratio <= GOALS.shortFile;
    console.log(`| ${file} | ${own.tokens} | ${other.tokens} | ${ratio.toFixed(2)} |`);
  }
  await ours.close();
  return isGood;
}

function cellsOf({ calls, tokens, isFound }: Result): string[] {
  return [`${calls}`, tokens.toLocaleString("en"), isFound ? "yes" : "**no**"];
}

async function openOurs(folder: string): Promise<Client> {
  const door = fromFileUrl(new URL("../../main.ts", import.meta.url));
  const client = await openClient(Deno.execPath(), ["run", "-A", door, folder, "--log-level", "error"]);
  const look = new CountedClient(client);
  await eventually(
    () => look.call("find_documents", { query: "harvest" }),
    (answer) => !answer.includes("not searched yet"),
    "every file to be searched",
  );
  return client;
}

/** What a counted costs before its first question. */
async function definitionsOf(client: Client): Promise<number> {
  const { tools } = await client.listTools();
  return Math.round(JSON.stringify(tools).length / 4);
}

const programs = await install().catch((error) => {
  console.error(`SKIPPED: questions: cannot install markitdown: ${error.message}`);
  Deno.exit(0);
});
const root = await makeFolders(programs);
const theirs = await openClient(join(programs, "markitdown-mcp"), []);
const ours = await openOurs(join(root, "short"));
const definitions = [await definitionsOf(ours), await definitionsOf(theirs)];
await ours.close();
const isGood = [await compareQuestions(root, theirs), await compareShortFiles(root, theirs)];
console.log(`\nTokens of the definitions of the tools: ${definitions.join(" and ")}`);
await theirs.close();
await Deno.remove(root, { recursive: true });
Deno.exit(isGood.every((each) => each) ? 0 : 2);
