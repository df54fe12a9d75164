/** Where the Finder's summaries come from, and what that costs the MCP servers. */
import { assert, assertEquals } from "@std/assert";
import { summaryOf } from "../fixtures/chain_control.ts";
import { RESOURCES_CHANGED, resourceUpdated, type Script } from "../fixtures/script.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ChainOffice } from "./_chain_office.ts";
import { ChainServer } from "./_chain_server.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { eventually } from "../fixtures/within.ts";

const HOST = "dpe://docs";
const COUNT = 60;
const CONCURRENCY = 8;

/** However busy the machine is, a Finder waits for its documents. */
const PATIENT = { viewDeadlineMs: 100_000, readTimeoutMs: 100_000 };

/** A document's URI. */
const uriOf = (index: number) => `${HOST}/${index}`;
const indices = (count: number) => Array.from({ length: count }, (_, index) => index);
const listed = (count: number) => indices(count).map((index) => ({ uri: uriOf(index) }));
const titled = (count: number, title: string) =>
  indices(count).map((index) => summaryOf(uriOf(index), title));

/** A catalogue of Level 0 with these entries. */
function catalogue(documents: readonly unknown[]): Record<string, unknown> {
  return { documents, total_count: documents.length };
}

/** The URIs that were read since the last time. */
function readsOf(office: ComputerOffice): () => Promise<unknown[]> {
  let seen = 0;
  return async () => {
    const reads = (await office.received()).filter(({ method }) => method === "resources/read")
      .map(({ params }) => params?.["uri"]);
    const since = reads.slice(seen);
    seen = reads.length;
    return since;
  };
}

/** All titles, each as often as it is there. */
async function titlesOf(office: ComputerOffice): Promise<string[]> {
  const { documents, totalCount } = await office.laptop.getFinder({ limit: 100 });
  assertEquals(documents.length, totalCount);
  return documents.map(({ title }) => title);
}

/**
 * Opens an office and waits until the documents are subscribed to. What is read before its subscription is read again
 * after it, so that how often something is read would depend on which of both is first.
 */
async function openSubscribed(script: Script): Promise<ComputerOffice> {
  await using stack = new AsyncDisposableStack();
  const office = stack.use(await ComputerOffice.open(scriptedServers({ s: script }), { limits: PATIENT }));
  await subscribed(office, indices(COUNT).map(uriOf));
  stack.move(); // From here on the office belongs to the test.
  return office;
}

/** Waits until the server was asked to subscribe to all of these, and has answered. */
async function subscribed(office: ComputerOffice, uris: readonly string[]): Promise<void> {
  const missing = async () => {
    const asked = (await office.received()).filter(({ method }) => method === "resources/subscribe")
      .map(({ params }) => params?.["uri"]);
    return uris.filter((uri) => !asked.includes(uri));
  };
  await eventually(missing, ({ length }) => length === 0, "all subscriptions");
}

// proves: dpe-level-0, dpe-content-level-0
Deno.test("all summaries come from one read of Level 0, and are served from memory then", async () => {
  const contents = { [HOST]: catalogue(titled(COUNT, "first")) };
  await using office = await openSubscribed({ resources: listed(COUNT), contents });
  const reads = readsOf(office);
  for (let i = 0; i < 3; i++) assertEquals(await titlesOf(office), indices(COUNT).map(() => "first"));
  assertEquals(await reads(), [HOST]);
});

// proves: finder-provide-list
Deno.test("a document that only the catalogue has is left out, one that only the list has is read at Level 1", async () => {
  const last = COUNT - 1;
  const inCatalogue = titled(COUNT + 5, "catalogue").filter(({ uri }) => uri !== uriOf(last));
  const contents = { [HOST]: catalogue(inCatalogue), [uriOf(last)]: summaryOf(uriOf(last), "list") };
  await using office = await openSubscribed({ resources: listed(COUNT), contents });
  const reads = readsOf(office);
  assertEquals(await titlesOf(office), [...indices(last).map(() => "catalogue"), "list"]);
  assertEquals(await reads(), [HOST, uriOf(last)]);
  const warnings = office.log.of("warn").filter(({ message }) => message.includes("catalogue"));
  assertEquals(warnings.map(({ fields }) => fields["uri"]), indices(5).map((index) => uriOf(COUNT + index)));
});

// proves: finder-updated-document
Deno.test("an update of one document reads that one alone, an update of Level 0 all of them in one read", async () => {
  const first = titled(COUNT, "first");
  await using office = await openSubscribed({
    resources: listed(COUNT),
    contents: { [HOST]: catalogue(first) },
  });
  const reads = readsOf(office);
  await titlesOf(office);
  assertEquals(await reads(), [HOST]);

  let update = office.next("updateFinder");
  await office.become({
    contents: { [uriOf(7)]: summaryOf(uriOf(7), "new") },
    tell: [resourceUpdated(uriOf(7))],
  });
  await update;
  assertEquals(await titlesOf(office), indices(COUNT).map((index) => index === 7 ? "new" : "first"));
  assertEquals(await reads(), [uriOf(7)]);

  update = office.next("updateFinder");
  await office.become({
    contents: { [HOST]: catalogue(titled(COUNT, "second")) },
    tell: [resourceUpdated(HOST), resourceUpdated(HOST)],
  });
  await update;
  for (let i = 0; i < 3; i++) assertEquals(await titlesOf(office), indices(COUNT).map(() => "second"));
  assertEquals(await reads(), [HOST]);
});

Deno.test("a document that comes is read by itself, and the others are not read again", async () => {
  const contents = {
    [HOST]: catalogue(titled(COUNT, "first")),
    [uriOf(COUNT)]: summaryOf(uriOf(COUNT), "new"),
  };
  await using office = await openSubscribed({ resources: listed(COUNT), contents });
  const reads = readsOf(office);
  await titlesOf(office);
  assertEquals(await reads(), [HOST]);
  const update = office.next("updateFinder");
  await office.become({ resources: listed(COUNT + 1), tell: [RESOURCES_CHANGED] });
  await update;
  await subscribed(office, [uriOf(COUNT)]);
  assertEquals(await titlesOf(office), [...indices(COUNT).map(() => "first"), "new"]);
  assertEquals(await reads(), [uriOf(COUNT)]);
});

// proves: dpe-level-1
Deno.test("without Level 0 documents are read at Level 1, so many at a time and no more", async () => {
  const documents = Object.fromEntries(indices(COUNT).map((index) => [uriOf(index), `${index}`]));
  // A host on its own answers nothing, and the documents wait to be answered one by one.
  await using server = new ChainServer("sdk", {
    documents,
    hold: Object.keys(documents),
    lacksCatalogue: true,
  });
  await using office = await ChainOffice.open({ server }, { concurrency: CONCURRENCY });
  const held = () => server.came.filter((request) => request in documents);
  let answered = 0;
  for (; answered < COUNT; answered++) {
    const expected = Math.min(answered + CONCURRENCY, COUNT);
    await server.when(() => held().length >= expected);
    assertEquals(held().length, expected, "no more are under way");
    await server.answer(held()[answered] ?? "");
  }
  await office.seesThat(({ titles }) => titles.length === 20);
  const { documents: shown } = await office.laptop.getFinder({ limit: 100 });
  assertEquals(shown.map(({ title }) => title), Object.values(documents));
  assertEquals(server.came.filter((request) => request === HOST).length, 1, "Level 0 is asked for once");
});

// proves: finder-aggregate, data-dpe-document
Deno.test("a listed document without its required fields is left out, at either level, and the rest is served", async () => {
  const [{ title: _title, ...untitled }, { doc_ref: _ref, ...unnamed }] = [
    summaryOf(uriOf(1), "x"),
    summaryOf(uriOf(2), "x"),
  ];
  const bad = { [uriOf(1)]: untitled, [uriOf(2)]: unnamed, [uriOf(3)]: "no JSON", [uriOf(4)]: null };
  const good = { [uriOf(0)]: summaryOf(uriOf(0), "good"), [uriOf(5)]: summaryOf(uriOf(5), "good") };
  const withoutCatalogue = { resources: listed(6), contents: { ...bad, ...good } };
  const entries = [...Object.values(good), { ...untitled }, { ...unnamed }, "no entry", null];
  const withCatalogue = { resources: listed(6), contents: { ...bad, [HOST]: catalogue(entries) } };
  for (const script of [withoutCatalogue, withCatalogue]) {
    await using office = await ComputerOffice.open(scriptedServers({ s: script }));
    assertEquals(await titlesOf(office), ["good", "good"]);
    const warned = office.log.of("warn").map(({ fields }) => fields["uri"]);
    for (const index of [1, 2, 3, 4]) assert(warned.includes(uriOf(index)), `${index} of ${warned}`);
  }
});

// proves: mcp-list-cursor
Deno.test("documents on a list without end, and on one that turns in a circle, are served from what was read of it", async () => {
  const contents = { [HOST]: catalogue(titled(5, "there")) };
  const resources = listed(5);
  const endless = scripted({ resources, contents, endless: true });
  const circle = scripted({
    resources,
    contents: { "dpe://round/a": summaryOf("dpe://round/a", "round") },
    answers: { "resources/list": { resources: [{ uri: "dpe://round/a" }], nextCursor: "again" } },
  });
  await using office = await ComputerOffice.open({ servers: { circle, endless } }, {
    limits: { readTimeoutMs: 1_000, viewDeadlineMs: 100_000 },
  });
  assertEquals(await titlesOf(office), ["round", ...indices(5).map(() => "there")]);
  const warnings = office.log.of("warn").filter(({ message }) => message.includes("does not end"));
  assertEquals(new Set(warnings.map(({ fields }) => fields["server"])), new Set(["circle", "endless"]));
});

Deno.test("an MCP server that never answers a subscription shows its documents all the same", async () => {
  const contents = { [HOST]: catalogue(titled(COUNT, "there")) };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: listed(COUNT), contents, hang: ["resources/subscribe"] } }),
    { limits: { viewDeadlineMs: 600_000, readTimeoutMs: 600_000 } },
  );
  assertEquals(await titlesOf(office), indices(COUNT).map(() => "there"));
});
