/** Documents are found by their text through Computer and Server. */
import { assertEquals, assertMatch } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { FinderPage } from "../../src/protocol/finder.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { ScriptedComputer } from "./_scripted_computer.ts";

Deno.test("an Agent finds pages by their text, and behind them documents whose MCP server cannot search by their titles", async () => {
  using folder = new TempFolder();
  await Deno.writeTextFile(
    `${folder.path}/printer.md`,
    "# Printer\n\nPaper.\n\n# Care\n\nThe menu shows when the toner is low.",
  );
  await using office = await ComputerOffice.open({
    servers: { manuals: { type: "documents", folders: [folder.path] }, kiosk: kioskOnStdio() },
  });
  const { documents: [printer, menu], totalCount, notIndexed, notice = "" } = await eventually(
    () => office.laptop.getFinder({ query: "toner menu" }),
    ({ documents }) => documents.length === 2,
    "both documents to be found",
  );
  assertEquals([totalCount, notIndexed], [2, 1]);
  assertMatch(notice, /^kiosk cannot search the text of documents/);
  assertEquals([printer?.title, printer?.server], ["Printer", "manuals"]);
  assertEquals(printer?.hits, [{
    page_index: 1,
    title: "Care",
    element_id: "p1-text-1",
    uri: `${printer?.uri}/pages/1`,
    snippet: "The menu shows when the toner is low.",
  }]);
  assertEquals([menu?.title, menu?.server, menu?.hits], ["menu.txt", "kiosk", undefined]);
  const second = await office.laptop.getFinder({ query: "toner menu", offset: 1, limit: 1 });
  assertEquals(second.documents.map(({ title }) => title), ["menu.txt"]);
});

Deno.test("a search says which folders of documents are gone, and a list where no document is left", async () => {
  using folder = new TempFolder();
  const folders = ["manuals", "reports"].map((name) => `${folder.path}/${name}`);
  for (const path of folders) {
    await Deno.mkdir(path);
    await Deno.writeTextFile(`${path}/printer.md`, "# Printer\n\nToner.");
  }
  await using office = await ComputerOffice.open({ servers: { files: { type: "documents", folders } } });
  const find = (query?: string) => office.laptop.getFinder({ query });
  await eventually(() => find(), ({ documents }) => documents.length === 2, "the documents");
  const gone: string[] = [];
  for (const [index, path] of folders.entries()) {
    await Deno.rename(path, `${path}.moved`);
    gone.push(`"${path.split("/").at(-1)}"`);
    const notice = `Cannot open documents of ${gone.join(", ")}: no such folder.`;
    for (const query of index === 0 ? ["toner"] : ["toner", undefined]) {
      const isTold = (page: FinderPage) => page.notice === notice && page.documents.length === 1 - index;
      await eventually(() => find(query), isTold, "the notice");
    }
  }
  for (const path of folders) await Deno.rename(`${path}.moved`, path);
  const isBack = ({ notice, documents }: FinderPage) => notice === undefined && documents.length === 2;
  for (const query of ["toner", undefined]) await eventually(() => find(query), isBack, "all documents");
});

Deno.test("an older Computer gets the words of a query as keywords", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_finder": ({ req_id }) => ({ documents: [], total_count: 0, req_id }) },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const { totalCount } = await agent.computer("laptop").getFinder({ query: "the reports of Éclair" });
  assertEquals(totalCount, 0);
  const { query, keywords } = computer.lastBody("client:get_finder");
  assertEquals(query, "the reports of Éclair");
  assertEquals(keywords, ["report", "eclair", "Éclair"]);
});
