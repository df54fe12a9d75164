import { assert, assertEquals } from "@std/assert";
import { RESOURCES_CHANGED, resourceUpdated, TOOLS_CHANGED } from "../fixtures/script.ts";
import { stateOf } from "../fixtures/log_book.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { eventually } from "../fixtures/within.ts";

const A = "window://host/a";
const B = "window://host/b";
const REPORT = "dpe://docs/report";
const PLAN = "dpe://docs/plan";

function document(uri: string, title: string): Record<string, unknown> {
  const doc_ref = uri.split("/").at(-1);
  return { doc_ref, uri, file_uri: `file:///${doc_ref}`, file_type: "md", title, page_count: 1 };
}

/** Waits until all that was told so far has been heard: events to and from one Computer keep their order. */
async function silence(office: ComputerOffice, type: "updateDesktop" | "updateFinder" | "updateToolList") {
  let count = 0;
  using _ = office.agent.on(type, () => void count++);
  // Each kind of update has its own throttle; a marker of another kind comes after whatever was sent before.
  const marker = type === "updateToolList" ? "updateDesktop" : "updateToolList";
  const marked = office.next(marker);
  const tools = [{ name: `marker-${crypto.randomUUID()}`, inputSchema: { type: "object" } }];
  if (marker === "updateToolList") await office.become({ tools, tell: [TOOLS_CHANGED] });
  else await office.become({ tell: [resourceUpdated("window://marker")] });
  await marked;
  return count;
}

// proves: desktop-flow-content, desktop-updated-window, mcp-updated, desktop-update-shape
Deno.test("a window whose contents change reaches the Agent as a notification and shows the new contents", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }], contents: { [A]: "old" } } }),
  );
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nold`]);
  const update = office.next("updateDesktop");
  await office.become({ contents: { [A]: "new" }, tell: [resourceUpdated(A)] });
  assertEquals(await update, { type: "updateDesktop", computer: "laptop" });
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nnew`]);
});

// proves: desktop-flow-list, desktop-list-differs, mcp-list-changed
Deno.test("a window that comes reaches the Agent as a notification and is in the desktop fetched next", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }], contents: { [A]: "a", [B]: "b" } } }),
  );
  assertEquals((await office.laptop.getDesktop()).length, 1);
  const update = office.next("updateDesktop");
  await office.become({ resources: [{ uri: A }, { uri: B }], tell: [RESOURCES_CHANGED] });
  await update;
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\na`, `${B}\n\nb`]);
});

Deno.test("a window that goes reaches the Agent as a notification and is gone from the desktop", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }, { uri: B }], contents: { [A]: "a", [B]: "b" } } }),
  );
  assertEquals((await office.laptop.getDesktop()).length, 2);
  const update = office.next("updateDesktop");
  await office.become({ resources: [{ uri: B }], tell: [RESOURCES_CHANGED] });
  await update;
  assertEquals(await office.laptop.getDesktop(), [`${B}\n\nb`]);
});

// proves: desktop-list-same, finder-list-same
Deno.test("a list change with the same URIs sends nothing", async () => {
  const resources = [{ uri: A }, { uri: REPORT }];
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources, contents: { [A]: "a", [REPORT]: document(REPORT, "R") } } }),
  );
  await office.laptop.getDesktop();
  const lists = async () =>
    (await office.received()).filter(({ method }) => method === "resources/list").length;
  const before = await lists();
  let updates = 0;
  using _desktop = office.agent.on("updateDesktop", () => void updates++);
  using _finder = office.agent.on("updateFinder", () => void updates++);
  await office.become({ tell: [RESOURCES_CHANGED] });
  await eventually(lists, (count) => count > before, "another list");
  assertEquals(await silence(office, "updateDesktop") + await silence(office, "updateFinder"), 0);
  assertEquals(updates, 0);
});

// proves: desktop-list-same, finder-list-same, desktop-list-same-logged, finder-list-same-logged, guide-uri-set
Deno.test("a list in another order sends nothing and leaves a line in the log", async () => {
  const resources = [{ uri: A }, { uri: B }, { uri: REPORT }, { uri: PLAN }];
  await using office = await ComputerOffice.open(scriptedServers({ s: { resources } }));
  await office.laptop.getDesktop();
  let updates = 0;
  using _desktop = office.agent.on("updateDesktop", () => void updates++);
  using _finder = office.agent.on("updateFinder", () => void updates++);
  const same = (what: string) =>
    office.log.next(({ message }) => message === `the listed ${what} are the same`);
  const lines = Promise.all([same("windows"), same("documents")]);
  await office.become({ resources: resources.toReversed(), tell: [RESOURCES_CHANGED] });
  assertEquals((await lines).map(({ level }) => level), ["debug", "debug"]);
  assertEquals(await silence(office, "updateDesktop") + await silence(office, "updateFinder"), 0);
  assertEquals(updates, 0);
});

// proves: desktop-audience-user
Deno.test("a window for the user alone is warned of when it is listed, and shown all the same", async () => {
  const resources = [{ uri: A, annotations: { audience: ["user"] } }];
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources, contents: { [A]: "a" } } }),
  );
  const { level, fields } = await office.log.until(({ message }) => message.includes("audience"));
  assertEquals([level, fields["server"], fields["uri"]], ["warn", "s", A]);
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\na`]);
});

// proves: desktop-last-modified
Deno.test("the time that a window was modified last is passed on with its annotations", async () => {
  const annotations = { lastModified: "2026-01-15T08:30:00Z" };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A, annotations }] } }),
  );
  assertEquals((await office.laptop.getResources("s")).resources[0]?.annotations, annotations);
});

Deno.test("a window whose annotations or metadata change refreshes the desktop", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }, { uri: B }], contents: { [A]: "a", [B]: "b" } } }),
  );
  assertEquals((await office.laptop.getDesktop())[0], `${A}\n\na`);
  const update = office.next("updateDesktop");
  const resources = [{ uri: A }, { uri: B, annotations: { priority: 1 } }];
  await office.become({ resources, tell: [RESOURCES_CHANGED] });
  await update;
  assertEquals((await office.laptop.getDesktop())[0], `${B}\n\nb`);
  const again = office.next("updateDesktop");
  const fullscreen = [{ uri: A, _meta: { fullscreen: true } }, { uri: B }];
  await office.become({ resources: fullscreen, tell: [RESOURCES_CHANGED] });
  await again;
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\na`]);
});

// proves: desktop-updated-other, finder-updated-other
Deno.test("an update of a resource of another scheme refreshes neither desktop nor finder", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }], contents: { [A]: "a" } } }),
  );
  await office.laptop.getDesktop();
  let updates = 0;
  using _desktop = office.agent.on("updateDesktop", () => void updates++);
  using _finder = office.agent.on("updateFinder", () => void updates++);
  await office.become({ tell: [resourceUpdated("https://host/a"), resourceUpdated("file:///a")] });
  assertEquals(await silence(office, "updateDesktop"), 0);
  assertEquals(updates, 0);
});

// proves: finder-flow-content, finder-updated-document, finder-update-shape
Deno.test("a document that changes reaches the Agent as a notification and shows its new metadata", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: REPORT }], contents: { [REPORT]: document(REPORT, "Old") } } }),
  );
  assertEquals((await office.laptop.getFinder()).documents[0]?.title, "Old");
  const update = office.next("updateFinder");
  await office.become({ contents: { [REPORT]: document(REPORT, "New") }, tell: [resourceUpdated(REPORT)] });
  assertEquals(await update, { type: "updateFinder", computer: "laptop" });
  assertEquals((await office.laptop.getFinder()).documents[0]?.title, "New");
});

Deno.test("an update of a page concerns its document, one of the host all of its documents", async () => {
  const contents = { [REPORT]: document(REPORT, "R1"), [PLAN]: document(PLAN, "P1") };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: REPORT }, { uri: PLAN }], contents } }),
  );
  const titles = async () => (await office.laptop.getFinder()).documents.map(({ title }) => title);
  // Twice, so that both are known to hold.
  await subscribed(office, 2);
  assertEquals(await titles(), ["R1", "P1"]);
  assertEquals(await titles(), ["R1", "P1"]);
  const change = { [REPORT]: document(REPORT, "R2"), [PLAN]: document(PLAN, "P2") };
  let update = office.next("updateFinder");
  await office.become({ contents: change, tell: [resourceUpdated(`${REPORT}/pages/0`)] });
  await update;
  assertEquals(await titles(), ["R2", "P1"]);
  update = office.next("updateFinder");
  await office.become({ tell: [resourceUpdated("dpe://docs")] });
  await update;
  assertEquals(await titles(), ["R2", "P2"]);
});

// proves: finder-flow-list, finder-list-differs, guide-uri-set
Deno.test("a document that comes reaches the Agent as a notification and is in the catalogue fetched next", async () => {
  const contents = { [REPORT]: document(REPORT, "R"), [PLAN]: document(PLAN, "P") };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: REPORT }], contents } }),
  );
  assertEquals((await office.laptop.getFinder()).totalCount, 1);
  const update = office.next("updateFinder");
  await office.become({ resources: [{ uri: REPORT }, { uri: PLAN }], tell: [RESOURCES_CHANGED] });
  await update;
  const { documents, totalCount } = await office.laptop.getFinder();
  assertEquals([documents.map(({ title }) => title), totalCount], [["R", "P"], 2]);
});

Deno.test("tools that come reach the Agent as a notification and are in the list fetched next", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ s: {} }));
  const update = office.next("updateToolList");
  await office.become({ tools: [{ name: "late", inputSchema: { type: "object" } }], tell: [TOOLS_CHANGED] });
  assertEquals(await update, { type: "updateToolList", computer: "laptop" });
  assertEquals((await office.laptop.getTools()).map(({ name }) => name), ["late", "become", "received"]);
  assertEquals((await office.laptop.callTool("late")).isError, false);
});

Deno.test("a storm of changes is told in few notifications, and the last state is seen", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }], contents: { [A]: "0" } } }),
  );
  await office.laptop.getDesktop();
  let updates = 0;
  using _ = office.agent.on("updateDesktop", () => void updates++);
  const tell = Array.from({ length: 1_000 }, () => resourceUpdated(A));
  await office.become({ contents: { [A]: "last" }, tell });
  await silence(office, "updateDesktop");
  assert(updates >= 1 && updates < 50, `${updates} updates`);
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nlast`]);
});

// proves: mcp-subscribe
Deno.test("windows and documents are subscribed to one by one, and let go when they leave the list", async () => {
  const contents = { [A]: "a", [REPORT]: document(REPORT, "R") };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }, { uri: REPORT }, { uri: "file:///other" }], contents } }),
  );
  assertEquals((await subscribed(office, 2)).toSorted(), [REPORT, A]);
  await office.become({ resources: [{ uri: A }], tell: [RESOURCES_CHANGED] });
  const unsubscribed = async () =>
    (await office.received()).filter(({ method }) => method === "resources/unsubscribe")
      .map(({ params }) => params?.["uri"]);
  const gone = await eventually(unsubscribed, ({ length }) => length > 0, "an end of a subscription");
  assertEquals(gone, [REPORT]);
});

Deno.test("what is subscribed to is read once and then served from memory", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }], contents: { [A]: "a" } } }),
    { limits: { windowMaxAgeMs: 600_000 } },
  );
  await subscribed(office, 1);
  for (let i = 0; i < 5; i++) assertEquals(await office.laptop.getDesktop(), [`${A}\n\na`]);
  const reads = (await office.received()).filter(({ method }) => method === "resources/read");
  assertEquals(reads.length, 1);
});

Deno.test("a window older than its maximum age is read again although nothing told of a change", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: A }], contents: { [A]: "old" } } }),
    { limits: { windowMaxAgeMs: 1 } },
  );
  await subscribed(office, 1);
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nold`]);
  await office.become({ contents: { [A]: "new" } });
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nnew`]);
});

Deno.test("what cannot be subscribed to is read anew for each request", async () => {
  const refusal = { error: { code: -32601, message: "no subscriptions" } };
  await using office = await ComputerOffice.open(
    scriptedServers({
      s: { resources: [{ uri: A }], contents: { [A]: "old" }, answers: { "resources/subscribe": refusal } },
    }),
  );
  await office.log.until(({ message }) => message.includes("not subscribed"));
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nold`]);
  await office.become({ contents: { [A]: "new" } });
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nnew`]);
});

// proves: mcp-capability-options
Deno.test("a server without listChanged is listed anew for each request", async () => {
  const capabilities = { tools: {}, resources: { subscribe: true } };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { capabilities, resources: [], contents: { [A]: "a" } } }),
  );
  assertEquals(await office.laptop.getDesktop(), []);
  await office.become({ resources: [{ uri: A }] });
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\na`]);
});

// proves: desktop-needs-subscribe, finder-needs-subscribe, mcp-capability-options
Deno.test("a server without resources.subscribe shows no windows and no documents, and can be read all the same", async () => {
  const capabilities = { tools: {}, resources: { listChanged: true } };
  const contents = { [A]: "a", [REPORT]: document(REPORT, "R") };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { capabilities, resources: [{ uri: A }, { uri: REPORT }], contents } }),
  );
  assertEquals(await office.laptop.getDesktop(), []);
  assertEquals((await office.laptop.getFinder()).totalCount, 0);
  assertEquals((await office.laptop.readResource(A)).contents[0]?.text, "a");
});

Deno.test("a server that returns from the dead has its windows told of again, and read again", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({
      s: {
        resources: [{ uri: A }],
        contents: { [A]: "first" },
        dieOn: ["tools/call die"],
        tools: [{ name: "die" }],
      },
    }),
    // It stays dead for as long as the test looks at it.
    { limits: { restartDelayMs: 3_000 } },
  );
  await subscribed(office, 1);
  await office.become({ contents: { [A]: "before death" }, tell: [resourceUpdated(A)] });
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nbefore death`]);
  const dead = office.log.next(stateOf("s", "retrying"));
  const alive = office.log.next(stateOf("s", "running"));
  await office.laptop.callTool("die");
  await dead;
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nbefore death`], "the last known window is served");
  const update = office.next("updateDesktop");
  await alive;
  await update;
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\nfirst`]);
});

Deno.test("a Computer that comes back after a lost connection tells the Agent to look again", async () => {
  await using office = await ComputerOffice.open({ servers: { s: scripted({}) } });
  const updates = Promise.all([
    office.next("updateConfig"),
    office.next("updateToolList"),
    office.next("updateDesktop"),
    office.next("updateFinder"),
  ]);
  const left = office.next("leaveOffice");
  office.cut();
  await left;
  await updates;
});

/** Waits for so many subscriptions that were answered; gives their URIs. */
async function subscribed(office: ComputerOffice, count: number): Promise<unknown[]> {
  const uris = async () =>
    (await office.received()).filter(({ method }) => method === "resources/subscribe")
      .map(({ params }) => params?.["uri"]);
  return await eventually(uris, ({ length }) => length >= count, `${count} subscriptions`);
}

Deno.test("a server that comes back with less than it had shows no more than that, and the Agent is told", async () => {
  const config = scripted({});
  const { args, ...parameters } = config["server_parameters"] as { args: string[] };
  const script = { tools: [{ name: "t" }], resources: [{ uri: A }], contents: { [A]: "a" } };
  await using office = await ComputerOffice.open({
    servers: {
      s: { ...config, server_parameters: { ...parameters, args: [...args.slice(0, -1), "${input:script}"] } },
    },
    inputs: [{ id: "script", type: "promptString", default: JSON.stringify(script) }],
  });
  assertEquals(await office.laptop.getDesktop(), [`${A}\n\na`]);
  const told = Promise.all([office.next("updateToolList"), office.next("updateDesktop")]);
  office.computer.setInput("script", JSON.stringify({ capabilities: {} }));
  await told;
  assertEquals([await office.laptop.getTools(), await office.laptop.getDesktop()], [[], []]);
  assertEquals(office.computer.uris, []);
});
