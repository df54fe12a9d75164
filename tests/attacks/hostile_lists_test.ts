/** Attacker: an MCP server. It lists so much that the answers of the whole Computer would not fit any more */
import { assert, assertEquals } from "@std/assert";
import type { ComputerLimits } from "../../src/config/limits.ts";
import type { LogLine } from "../fixtures/log_book.ts";
import type { Script } from "../fixtures/script.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

const GOOD = "window://good/a";
const GOOD_TEXT = `${GOOD}\n\ngood`;
const OBJECT = { type: "object" };
/** What the Server, and so the connection, takes in one message. */
const MAX_PAYLOAD_BYTES = 100_000;

/** A document as its server tells of it. */
function summary(uri: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const doc_ref = uri.split("/").at(-1);
  return {
    doc_ref,
    uri,
    file_uri: `file:///${doc_ref}`,
    file_type: "md",
    title: "t",
    page_count: 1,
    ...more,
  };
}

/** An office with a hostile server, first in precedence, and a good one. A text such as `x*1000` is that long. */
async function openOffice(bad: Script, limits: Partial<ComputerLimits> = {}): Promise<ComputerOffice> {
  const document = "dpe://good/doc";
  const good = {
    tools: [{ name: "fine", inputSchema: OBJECT }],
    resources: [{ uri: GOOD }, { uri: document }],
    contents: { [GOOD]: "good", [document]: summary(document) },
  };
  const server = { maxPayloadBytes: MAX_PAYLOAD_BYTES };
  // What is late is left out of a view as well.
  const patient = { viewDeadlineMs: 600_000, readTimeoutMs: 600_000, ...limits };
  return await ComputerOffice.open(scriptedServers({ bad, good }), { limits: patient, server });
}

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** The warnings that begin so; each names the hostile server. */
function warnings(office: ComputerOffice, start: string): LogLine["fields"][] {
  const lines = office.log.of("warn").filter(({ message }) => message.startsWith(start));
  assert(lines.every(({ fields }) => fields["server"] === "bad"), JSON.stringify(lines));
  return lines.map(({ fields }) => fields);
}

async function toolNames(office: ComputerOffice): Promise<string[]> {
  return (await office.laptop.getTools()).map(({ name }) => name);
}

Deno.test("one tool that is too large is left out, and named, and all others are listed", async () => {
  const tools = [
    { name: "small", inputSchema: OBJECT },
    { name: "huge", description: "x*1200000", inputSchema: OBJECT },
  ];
  await using office = await openOffice({ tools });
  assertEquals(await toolNames(office), [
    "small",
    "become",
    "received",
    "fine",
    "good__become",
    "good__received",
  ]);
  const [left] = warnings(office, "tools are left out: too large");
  assertEquals([left?.["tools"], left?.["count"]], [["huge"], 1]);
});

Deno.test("of a list without end as much is taken as is allowed", async () => {
  const tools = many(300, (index) => ({ name: `t${index}`, inputSchema: OBJECT }));
  await using office = await openOffice({ tools }, { maxTools: 100 });
  const names = await toolNames(office);
  assertEquals(names.filter((name) => name.startsWith("t")).length, 100);
  assert(names.includes("fine"), names.join());
  assertEquals(warnings(office, "tools are left out: the server lists too many")[0]?.["count"], 202);
});

Deno.test("tools that do not fit into one answer cost the server that lists most of them", async () => {
  const tools = many(200, (index) => ({ name: `t${index}`, description: "x*900", inputSchema: OBJECT }));
  await using office = await openOffice({ tools });
  const names = await toolNames(office);
  assert(names.includes("fine") && names.includes("good__received"), names.join());
  const shown = names.filter((name) => name.startsWith("t")).length;
  assert(shown > 60 && shown < 110, `${shown}`);
  assertEquals(warnings(office, "tools are left out of an answer").length, 1);
  await toolNames(office);
  assertEquals(warnings(office, "tools are left out of an answer").length, 1);
  // Left out of the list is not left out of what can be called.
  const { content } = await office.laptop.callTool("t199");
  assert(!JSON.stringify(content).includes("does not exist"));
});

Deno.test("windows that do not fit into one answer cost the server that shows most of them", async () => {
  const uris = many(5, (index) => `window://bad/${index}`);
  const contents = Object.fromEntries(uris.map((uri) => [uri, "x*40000"]));
  await using office = await openOffice({ resources: uris.map((uri) => ({ uri })), contents });
  const desktop = await office.laptop.getDesktop();
  assertEquals(desktop.length, 3);
  assert(desktop.includes(GOOD_TEXT));
  const [left] = warnings(office, "windows are left out of an answer");
  assertEquals(left?.["count"], 3);
});

Deno.test("one window larger than any answer is left out, and named, and all others are shown", async () => {
  const resources = ["huge", "large", "small"].map((name) => ({ uri: `window://bad/${name}` }));
  const contents = {
    "window://bad/huge": "x*5000000",
    "window://bad/large": "x*200000",
    "window://bad/small": "s",
  };
  await using office = await openOffice({ resources, contents });
  assertEquals(await office.laptop.getDesktop(), ["window://bad/small\n\ns", GOOD_TEXT]);
  const { fields } = await office.log.until(({ message }) => message.startsWith("a window is left out"));
  assertEquals(fields["uri"], "window://bad/huge");
  assertEquals(warnings(office, "windows are left out of an answer")[0]?.["count"], 1);
});

Deno.test("windows and documents without end are taken as far as is allowed", async () => {
  const resources = many(600, (index) => ({ uri: `${index % 2 === 0 ? "window" : "dpe"}://bad/${index}` }));
  await using office = await openOffice({ resources }, { maxListed: 10, maxDocuments: 10 });
  assert((await office.laptop.getDesktop()).includes(GOOD_TEXT));
  assertEquals((await office.laptop.getFinder()).totalCount, 1);
  assertEquals(office.computer.uris.length, 22);
  assertEquals(warnings(office, "listed resources are left out")[0]?.["count"], 580);
});

Deno.test("documents whose summaries are too large are left out, and a page of large ones is cut to what fits", async () => {
  const uris = many(10, (index) => `dpe://bad/${index}`);
  const contents = Object.fromEntries(
    uris.map((uri, index) => [uri, summary(uri, { summary: index === 0 ? "x*70000" : "x*20000" })]),
  );
  await using office = await openOffice({ resources: uris.map((uri) => ({ uri })), contents });
  const { documents, totalCount } = await office.laptop.getFinder();
  assertEquals(totalCount, 10);
  assert(documents.some(({ server }) => server === "good"));
  assert(documents.length >= 4 && documents.length < 7, `${documents.length}`);
  assertEquals(warnings(office, "a document is left out of the Finder")[0]?.["uri"], uris[0]);
  assertEquals(warnings(office, "documents are left out of an answer").length, 1);
});

Deno.test("wrong metadata without end leaves a bounded number of lines in the log", async () => {
  const resources = many(300, (index) => ({
    uri: index % 2 === 0 ? `window://bad/${index}` : "window://",
    annotations: { priority: index + 2, audience: ["user"] },
  }));
  const tools = many(300, () => ({ name: "same", inputSchema: OBJECT }));
  const documents = many(300, (index) => `dpe://bad/${index}`);
  const contents = Object.fromEntries(
    documents.map((uri, index) => [uri, summary(uri, { last_modified: `not ${index}` })]),
  );
  const listed = [...resources, ...documents.map((uri) => ({ uri }))];
  await using office = await openOffice({ resources: listed, tools, contents });
  await office.laptop.getDesktop();
  assertEquals((await office.laptop.getFinder({ limit: 1 })).totalCount, 301);
  const lines = office.log.of("warn").length;
  assert(lines < 150, `${lines}`);
});
