import fc from "../../../fixtures/fast_check.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { BUILTIN_NAMES, makeBuiltins } from "../../../../src/agent/toolkit/builtins/all.ts";
import { askEach } from "../../../../src/agent/toolkit/builtins/builtin.ts";
import { mergePages } from "../../../../src/agent/toolkit/builtins/find_documents.ts";
import { ConnectionClosedError } from "../../../../src/link/errors.ts";
import type { RemoteComputer } from "../../../../src/agent/remote_computer.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { FakeOffice } from "../../gateway/_fake_office.ts";
import type { DPEDocumentSummary } from "../../../../src/protocol/dpe.ts";
import { OfficeView, type OfficeViewOptions } from "../../../../src/agent/toolkit/office_view.ts";

const never = new AbortController().signal;

/** What a tool answers while there is no office. */
async function call(name: string, args: Record<string, unknown>): Promise<string> {
  using view = new OfficeView({ problem: () => "the Server is away" });
  const tool = makeBuiltins({ view }).find(({ definition }) => definition.name === name);
  const result = await tool?.run(args, { signal: never });
  assertEquals(result?.isError, true);
  return String(result?.content[0]?.["text"]);
}

Deno.test("the tools modify nothing, and take no unknown arguments", () => {
  using view = new OfficeView();
  const definitions = makeBuiltins({ view }).map(({ definition }) => definition);
  assertEquals(definitions.map(({ name }) => name), [...BUILTIN_NAMES]);
  for (const { annotations, inputSchema, description = "" } of definitions) {
    assertEquals(annotations?.["readOnlyHint"], true);
    assertEquals(inputSchema["additionalProperties"], false);
    assert(description.length > 40);
  }
});

Deno.test("a wrong argument is told by name, with what it should be", async () => {
  assertMatch(await call("view_desktop", { screen: 1 }), /"screen" is unknown\. Arguments: computer, window/);
  assertMatch(await call("list_computers", { computer: "a" }), /"computer" is unknown/);
  assertMatch(await call("view_desktop", { size: 0 }), /"size" must be a whole number from 1 to 100/);
  assertMatch(await call("view_desktop", { offset: 10 }), /name it with "window"/);
  assertMatch(await call("view_desktop", { window: "dpe://a/b" }), /not the URI of a window/);
  assertMatch(await call("view_desktop", { window: "a2c://%zz/window://a" }), /not a URI/);
  assertMatch(await call("find_documents", { keywords: [1] }), /"keywords" must be a list of texts/);
  assertMatch(await call("find_documents", { limit: 101 }), /"limit" must be a whole number from 1 to 100/);
  assertMatch(await call("read_document", {}), /"uri" is missing/);
  assertMatch(await call("read_document", { uri: "window://a/b" }), /not the URI of a document/);
  assertMatch(await call("read_document", { uri: "dpe://host" }), /not the URI of a document/);
  const uri = "dpe://host/document";
  assertMatch(await call("read_document", { uri, pages: "2-1" }), /write indices from 0/);
  assertMatch(await call("read_document", { uri, pages: "0-99999" }), /write indices from 0/);
  assertMatch(await call("read_document", { uri, pages: "0-999,".repeat(100_000) }), /at most 1000/);
  assertMatch(await call("read_document", { uri, format: "pdf" }), /must be one of json, markdown, text/);
});

Deno.test("right arguments reach the office, of which the tools tell why it cannot be reached", async () => {
  const uri = "dpe://host/document";
  for (const pages of [undefined, null, "3", 3, "0-4, 7", [0, 1, "3-4"]]) {
    assertMatch(
      await call("read_document", { uri, pages }),
      /the Server is away\. Try again in a few seconds; if this lasts, tell the user/,
    );
  }
  assertMatch(await call("find_documents", { keywords: "word", limit: "5" }), /the Server is away/);
  assertMatch(await call("view_desktop", { computer: null }), /the Server is away/);
});

Deno.test("list_computers answers without an office as well", async () => {
  using view = new OfficeView({ problem: () => "the Server is away" });
  const [listComputers] = makeBuiltins({ view });
  const result = await listComputers?.run({}, { signal: never });
  assertEquals(result?.structuredContent, { problem: "the Server is away", computers: [] });
});

Deno.test("list_computers names the Computers that are missing, and claims nothing of an office out of reach", async () => {
  const textFor = async (options: OfficeViewOptions, isReached: boolean, computers = ["desk"]) => {
    using view = new OfficeView(options);
    if (isReached) await view.follow(new FakeOffice(computers));
    const result = await makeBuiltins({ view })[0]?.run({}, { signal: never });
    return String(result?.content[0]?.["text"]);
  };
  assertEquals(await textFor({ computers: ["laptop"] }, true), 'Not in the office now: Computer "laptop".');
  assertEquals(await textFor({}, true, []), 'No Computer is in the office now ("lab").');
  assertEquals(
    await textFor({ problem: () => "it is away" }, false),
    "The office cannot be reached now: it is away.",
  );
});

Deno.test("a read that loses its connection says so, and what to do", async () => {
  const lost = () => Promise.reject(new ConnectionClosedError("gone"));
  const requests = { getFinder: lost, getWindows: lost, readDocumentMetadata: lost };
  using view = new OfficeView();
  await view.follow(new FakeOffice(["desk"], requests));
  const tools = new Map(makeBuiltins({ view }).map((tool) => [tool.definition.name, tool]));
  for (const name of ["find_documents", "view_desktop", "read_document"]) {
    const args = name === "read_document" ? { uri: "dpe://host/document" } : {};
    const { isError, content } = await tools.get(name)?.run(args, { signal: never }) ?? { content: [] };
    assertEquals(isError, true);
    assertMatch(
      String(content[0]?.["text"]),
      /: the connection to the office was lost during the call\. Try again in a few seconds/,
    );
  }
});

Deno.test("an aborted call rejects with the reason of its signal", async () => {
  using view = new OfficeView();
  const reason = new Error("enough");
  const [, viewDesktop] = makeBuiltins({ view });
  const running = viewDesktop?.run({}, { signal: AbortSignal.abort(reason) });
  await assertRejects(() => Promise.resolve(running), Error, "enough");
});

Deno.test("mergePages(): the pages of Computers that take turns have each document once, and in its order", () => {
  const totals = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(totals, fc.integer({ min: 1, max: 10 }), (all, limit) => {
    const shelves = all.map((total) => Array.from({ length: total }, (_, rank) => toDocument(`${rank}`)));
    const inTurns = Array.from(
      { length: Math.max(...all) },
      (_, rank) => all.flatMap((total, computer) => rank < total ? [`${computer} ${rank}`] : []),
    ).flat();
    const read: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const pages = shelves.map((shelf, computer) => ({
        computer: `${computer}`,
        value: { documents: shelf.slice(offset, Number(offset) + limit), totalCount: shelf.length },
      }));
      const { documents, next }: ReturnType<typeof mergePages> = mergePages(pages, { offset, limit });
      assert(documents.length <= Math.max(limit, all.length));
      read.push(...documents.map(({ computer, title }) => `${computer} ${title}`));
      offset = next;
    }
    assertEquals(read, inTurns);
  }));
});

function toDocument(title: string): DPEDocumentSummary {
  return {
    doc_ref: title,
    uri: `dpe://a/${title}`,
    file_uri: "file:///a",
    file_type: "txt",
    title,
    page_count: 1,
    server: "s",
  };
}

Deno.test("askEach() tells of several Computers which one did not answer soon, and waits for a single one", async () => {
  using timers = new FakeTimers();
  const [quick, silent] = ["quick", "silent"].map((name) => ({ name }) as RemoteComputer);
  assert(quick !== undefined && silent !== undefined);
  const late = Promise.withResolvers<string>();
  const ask = ({ name }: RemoteComputer) => name === "quick" ? Promise.resolve("here") : late.promise;
  const both = askEach([quick, silent], ask);
  const alone = askEach([silent], ask);
  await setImmediate();
  timers.advance(60_000);
  const [first, second] = await both;
  assertEquals(first, { computer: "quick", value: "here" });
  assertMatch(JSON.stringify(second), /"silent".*no answer within 15 s/);
  late.resolve("at last");
  assertEquals(await alone, [{ computer: "silent", value: "at last" }]);
});
