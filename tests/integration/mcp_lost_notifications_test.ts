/** What a Streamable HTTP server tells while its standing stream is down reaches nobody, and is found out all the same. */
import { assertEquals } from "@std/assert";
import { summaryOf } from "../fixtures/chain_control.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { resourceUpdated, type Script } from "../fixtures/script.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { eventually } from "../fixtures/within.ts";

const WINDOW = "window://com.example.lost/a";
const DOCUMENT = "dpe://com.example.lost/report";

/** A server at some time of its life: everything that it shows names that time. */
function scriptAt(time: string): Script {
  return {
    tools: [{ name: time, inputSchema: { type: "object" } }],
    resources: [{ uri: WINDOW }, { uri: DOCUMENT }],
    contents: { [WINDOW]: time, [DOCUMENT]: summaryOf(DOCUMENT, time) },
  };
}

/** An office with such a server, in which nothing grows old, and whose Agent sees all of it out of memory. */
async function open(server: HttpMcpServer): Promise<ComputerOffice> {
  const office = await ComputerOffice.open({ servers: { s: server.config() } }, {
    limits: { windowMaxAgeMs: 3_600_000, documentMaxAgeMs: 3_600_000 },
  });
  const reads = () => server.requests.filter((request) => request === "POST resources/read").length;
  const look = async () => {
    const before = reads();
    assertEquals(await seenBy(office), ["old", "old", "old"]);
    return reads() - before;
  };
  await eventually(look, (more) => more === 0, "views that are served from memory");
  return office;
}

/** What the Agent sees when it looks: the text of the window, the title of the document, the name of the tool. */
async function seenBy({ laptop }: ComputerOffice): Promise<(string | undefined)[]> {
  const [desktop] = await laptop.getDesktop();
  const { documents } = await laptop.getFinder();
  const [tool] = await laptop.getTools();
  return [desktop?.split("\n\n")[1], documents[0]?.title, tool?.name];
}

/** Resolves when the stream is open and that was heeded: everything is listed once more. */
async function streamOpened(server: HttpMcpServer): Promise<void> {
  const lists = () => server.requests.filter((request) => request === "POST tools/list").length;
  await eventually(lists, (count) => count >= 2, "a second list of tools");
}

const updates = (office: ComputerOffice) =>
  Promise.all([office.next("updateDesktop"), office.next("updateFinder"), office.next("updateToolList")]);

for (
  const { what, end } of [
    { what: "ends", end: (server: HttpMcpServer) => server.endStreams() },
    { what: "breaks", end: (server: HttpMcpServer) => server.cut() },
  ]
) {
  // proves: mcp-list-changed, mcp-updated
  Deno.test(`what changes while a server's standing stream is down is told once the stream that ${what} is open again`, async () => {
    await using server = new HttpMcpServer("streamable", scriptAt("old"));
    await using office = await open(server);
    await streamOpened(server);
    const updated = updates(office);
    end(server);
    server.change(scriptAt("new"));
    await updated;
    assertEquals(await seenBy(office), ["new", "new", "new"]);
    assertEquals(server.requests.filter((request) => request === "POST initialize").length, 1);
  });
}

Deno.test("what changes before a server's standing stream is open for the first time is told once it is", async () => {
  const opened = Promise.withResolvers<void>();
  await using server = new HttpMcpServer("streamable", scriptAt("old"), { beforeGet: opened.promise });
  await using office = await open(server);
  const updated = updates(office);
  server.change(scriptAt("new"));
  opened.resolve();
  await updated;
  assertEquals(await seenBy(office), ["new", "new", "new"]);
});

Deno.test("a standing stream that is answered with a passing failure is asked for until it opens", async () => {
  let isBusy = true;
  const busy = () => isBusy ? new Response("busy", { status: 503 }) : undefined;
  await using server = new HttpMcpServer("streamable", scriptAt("old"), { interceptGet: busy });
  await using office = await open(server);
  const asked = () => server.requests.filter((request) => request === "GET").length;
  await eventually(asked, (count) => count >= 2, "a second request for the stream");
  const updated = updates(office);
  server.change(scriptAt("new"));
  isBusy = false;
  await updated;
  assertEquals(await seenBy(office), ["new", "new", "new"]);
});

Deno.test("a stream that its server resumes costs nothing but what is told on it", async () => {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const told = JSON.stringify({ jsonrpc: "2.0", ...resourceUpdated(WINDOW) });
  const interceptGet = ({ headers }: Request) => {
    const event = headers.get("last-event-id") === "1"
      ? `id: 2\ndata: ${told}\n\n`
      : "retry: 10\nid: 1\ndata:\n\n";
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      streams.push(controller);
      controller.enqueue(new TextEncoder().encode(event));
    };
    return new Response(new ReadableStream({ start }), { headers: { "content-type": "text/event-stream" } });
  };
  await using server = new HttpMcpServer("streamable", scriptAt("old"), { interceptGet });
  await using office = await open(server);
  await streamOpened(server);
  // Resources may be listed once more for the opening: a view that comes first lists them, too.
  const lists = () => server.requests.filter((request) => request === "POST tools/list").length;
  const before = lists();
  const updated = office.next("updateDesktop");
  server.change({ contents: { [WINDOW]: "new" } });
  streams[0]?.close();
  await updated;
  assertEquals(await seenBy(office), ["new", "old", "old"]);
  assertEquals([streams.length, lists()], [2, before]);
});
