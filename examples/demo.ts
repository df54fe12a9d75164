/**
 * An office at work: a Server, a Computer with four MCP servers over three transports and a folder of files, and an
 * Agent that uses their tools, windows and documents. Each step says in plain words what happens, and checks that it did.
 *
 * ```sh
 * deno run -A examples/demo.ts
 * ```
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { Agent, type AgentEventName, type AgentEventOf, type RemoteComputer } from "../agent.ts";
import { Computer } from "../computer.ts";
import { SmcpServer } from "../server.ts";
import { EVERYTHING, startEverything } from "./everything_servers.ts";

/** The time limit of each step, which normally takes a second at most. */
const MAX_STEP_MS = 120_000;
/** Between two looks at what is not there yet, in milliseconds. */
const LOOK_AGAIN_MS = 500;
/** An MCP server that a busy machine slows down has not failed: the step alone has a limit. */
const PATIENT = { startTimeoutMs: MAX_STEP_MS, pingTimeoutMs: MAX_STEP_MS, readTimeoutMs: MAX_STEP_MS };
/** What a person writes into a document while the demo runs. */
const LESSON = "Ask before you restart.";

async function main(): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const documents = await copyDocuments(cleanup);

  step("A Server on a free port. It only relays, so the Computer needs no open port.");
  const server = cleanup.use(await SmcpServer.listen({ port: 0 }));
  tell(`listening on ${server.url}`);

  step(
    "A Computer with four MCP servers, the public server-everything three times and our workspace, and a folder.",
  );
  const http = cleanup.use(await startEverything("streamableHttp"));
  const sse = cleanup.use(await startEverything("sse"));
  const computer = cleanup.use(
    Computer.open({ name: "laptop", config: config(documents, { http, sse }), limits: PATIENT }),
  );
  await computer.ready();
  for (const [name, { status }] of computer.servers) tell(`${name}: ${status}`);
  await computer.join({ url: server.url, office: "demo" });

  step("An Agent joins the same office and looks around.");
  const agent = cleanup.use(await Agent.connect({ url: server.url, office: "demo", name: "ada" }));
  for (const { role, name } of await agent.listOffice()) tell(`${role} ${name}`);
  const laptop = agent.computer("laptop");

  await callTools(laptop);
  await showDesktop(laptop);
  await walkDocuments(laptop);
  await readFiles(laptop);
  await seeChange({ agent, laptop, documents });
  await cancelCall(laptop);

  step("The Agent leaves, and everything stops.");
}

/** The demo changes a file, so it works on a copy. */
async function copyDocuments(cleanup: AsyncDisposableStack): Promise<string> {
  const source = fromFileUrl(new URL("documents", import.meta.url));
  const folder = await Deno.makeTempDir({ prefix: "a2c-smcp-demo-" });
  cleanup.defer(() => Deno.remove(folder, { recursive: true }));
  for await (const { name } of Deno.readDir(source)) {
    await Deno.copyFile(join(source, name), join(folder, name));
  }
  return folder;
}

function config(documents: string, urls: { readonly http: { url: string }; readonly sse: { url: string } }) {
  const workspace = fromFileUrl(new URL("workspace/server.ts", import.meta.url));
  const default_tool_meta = { auto_apply: true };
  return {
    servers: {
      workspace: {
        type: "stdio",
        default_tool_meta,
        server_parameters: { command: Deno.execPath(), args: ["run", "--allow-read", workspace, documents] },
      },
      stdio: {
        type: "stdio",
        default_tool_meta,
        server_parameters: {
          command: Deno.execPath(),
          args: ["run", "-A", "--no-lock", EVERYTHING, "stdio"],
        },
      },
      http: { type: "streamable", default_tool_meta, server_parameters: { url: urls.http.url } },
      sse: { type: "sse", default_tool_meta, server_parameters: { url: urls.sse.url } },
      reports: { type: "documents", folders: [fromFileUrl(new URL("reports", import.meta.url))] },
    },
  };
}

async function callTools(laptop: RemoteComputer): Promise<void> {
  step("The tools of all four servers are one list; a duplicate name gets the prefix of its server's name.");
  const names = (await laptop.getTools()).map(({ name }) => name);
  tell(`${names.length} tools: ${names.filter((name) => /echo|count_words/.test(name)).join(", ")}, …`);

  step("One call on each transport.");
  const calls = [
    { tool: "count_words", params: { document: "runbook.md" }, expected: "runbook.md has" },
    { tool: "echo", params: { message: "hello over stdio" }, expected: "hello over stdio" },
    { tool: "http__get-sum", params: { a: 40, b: 2 }, expected: "42" },
    { tool: "sse__echo", params: { message: "hello over SSE" }, expected: "hello over SSE" },
  ];
  for (const { tool, params, expected } of calls) {
    const { content } = await laptop.callTool(tool, params);
    const text = content[0]?.text ?? "";
    tell(`${tool}: ${text}`);
    assertStringIncludes(text, expected);
  }
}

async function showDesktop(laptop: RemoteComputer): Promise<void> {
  step("The Desktop: what the Computer's windows show now.");
  const desktop = await until(() => laptop.getDesktop(), ({ length }) => length === 3);
  for (const window of desktop) tell(window);
  assertEquals(desktop.map((window) => window.split("\n")[0]), [
    "window://com.example.workspace/overview",
    "window://com.example.workspace/activity",
    "window://local.documents.reports/documents",
  ]);
}

async function walkDocuments(laptop: RemoteComputer): Promise<void> {
  step("The Finder: look for the report, open it, read a page, take one table.");
  const { documents, totalCount } = await until(
    () => laptop.getFinder(),
    ({ totalCount }) => totalCount === 5,
  );
  tell(`${totalCount} documents: ${documents.map(({ title }) => title).join("; ")}`);
  const [report] = (await laptop.getFinder({ keywords: ["revenue"] })).documents;
  assert(report !== undefined, "The report is not in the Finder");

  const { pages } = await laptop.readDocumentPages(report.uri);
  tell(`"${report.title}" has the pages ${pages.map(({ title }) => title).join(", ")}`);
  const index = pages.findIndex(({ title }) => title === "Revenue");
  const page = await laptop.readPage(report.uri, index, { format: "markdown" });
  tell(page.content_markdown ?? "");
  assertStringIncludes(page.content_markdown ?? "", "| Region | Q2 (k€) |");

  const table = page.elements.find(({ category }) => category === "table");
  const element = await laptop.readElement(report.uri, table?.element_id ?? "");
  tell(`element ${element.element_id} is a ${element.category}: ${element.summary}`);
  assertEquals(element.category, "table");
}

async function readFiles(laptop: RemoteComputer): Promise<void> {
  step("A folder of files is documents, too: a page of a PDF file, and some rows of a long sheet.");
  const find = async (fileType: string) => {
    const [found] = (await laptop.getFinder({ fileType })).documents;
    assert(found !== undefined, `No ${fileType} file is in the Finder`);
    return found.uri;
  };
  const timeoutMs = MAX_STEP_MS;
  const page = await laptop.readPage(await find("pdf"), 1, { format: "markdown", timeoutMs });
  tell(page.content_markdown ?? "");
  assertStringIncludes(page.content_markdown ?? "", "| North Slope | 1,008 | +25 % |");

  const sheet = await laptop.readPage(await find("xlsx"), 1, { timeoutMs });
  const table = sheet.elements.find(({ category }) => category === "table");
  assert(table !== undefined, "The page of the sheet has no table");
  tell(`${sheet.title}: ${table.summary}`);
  assertStringIncludes(sheet.title, "rows 501–1000");
  assertStringIncludes(table.summary ?? "", "500 rows");
}

async function seeChange(
  { agent, laptop, documents }: { agent: Agent; laptop: RemoteComputer; documents: string },
): Promise<void> {
  step("A file on the Computer changes; the Agent is notified and reads the new content.");
  const told = next(agent, "updateFinder");
  await Deno.writeTextFile(join(documents, "runbook.md"), `\n## Lessons\n\n${LESSON}\n`, { append: true });
  const { computer } = await told;
  tell(`notify:update_finder from ${computer}`);
  // A notification says that documents have changed, not which: one of another folder may come first.
  tell(await until(() => readEnd(laptop, "runbook"), (text) => text.includes(LESSON)));
}

/** The last page of the document that a keyword finds. */
async function readEnd(laptop: RemoteComputer, keyword: string): Promise<string> {
  const [found] = (await laptop.getFinder({ keywords: [keyword] })).documents;
  assert(found !== undefined, `No document has the keyword ${keyword}`);
  const page = await laptop.readPage(found.uri, found.page_count - 1, { format: "text" });
  return page.content_text ?? "";
}

async function cancelCall(laptop: RemoteComputer): Promise<void> {
  step("A call that would take a minute is cancelled.");
  const call = new AbortController();
  const startMs = performance.now();
  const running = laptop.callTool("trigger-long-running-operation", { duration: 60, steps: 60 }, {
    timeoutMs: 90_000,
    signal: call.signal,
  });
  setTimeout(() => call.abort(new DOMException("The user changed their mind", "AbortError")), 500);
  await assertRejects(() => running, DOMException, "changed their mind");
  tell(`cancelled after ${Math.round(performance.now() - startMs)} ms`);
}

/**
 * Looks until what is wanted is there. A Computer answers within a few seconds with what its MCP servers have told so far,
 * so on a busy machine windows and documents come one after the other.
 */
async function until<T>(look: () => Promise<T>, isThere: (seen: T) => boolean): Promise<T> {
  let seen = await look();
  while (!isThere(seen)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    seen = await look();
  }
  return seen;
}

/** The next event of one name. */
function next<Name extends AgentEventName>(agent: Agent, name: Name): Promise<AgentEventOf<Name>> {
  const { promise, resolve } = Promise.withResolvers<AgentEventOf<Name>>();
  const unsubscribe = agent.on(name, (event) => {
    unsubscribe();
    resolve(event);
  });
  return promise;
}

let stepNumber = 0;
let watchdog: ReturnType<typeof setTimeout> | undefined;

function step(text: string): void {
  console.log(`\n${++stepNumber}. ${text}`);
  clearTimeout(watchdog);
  watchdog = setTimeout(() => {
    console.error(`error: Step ${stepNumber} of the demo did not end in ${MAX_STEP_MS} ms`);
    Deno.exit(1);
  }, MAX_STEP_MS);
}

function tell(text: string): void {
  console.log(text.split("\n").map((line) => `   ${line}`.trimEnd()).join("\n"));
}

if (import.meta.main) {
  await main();
  clearTimeout(watchdog);
  console.log("\nAll steps worked.");
}
