/** A list of a real MCP server whose answers are given by the test. */
import { assert, assertEquals } from "@std/assert";
import type { BackoffOptions } from "../../../src/async/backoff.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { readResolved } from "../../../src/config/values.ts";
import { silentLogger } from "../../../src/log.ts";
import { DEFAULT_SERVER_LIMITS } from "../../../src/mcp/limits.ts";
import { ServerList } from "../../../src/mcp/server_list.ts";
import { Fleet } from "../../../src/mcp/supervision/fleet.ts";
import { deafListener } from "../../fixtures/deaf_listener.ts";
import { HttpMcpServer } from "../../fixtures/http_server.ts";
import type { Script } from "../../fixtures/script.ts";
import { within } from "../../fixtures/within.ts";

/** Announces changes of its list. */
const ANNOUNCING: Script = { capabilities: { resources: { subscribe: true, listChanged: true } } };
/** Has a list, and does not announce its changes. */
const SILENT: Script = { capabilities: { resources: { subscribe: true } } };
const WITHOUT_LIST: Script = { capabilities: { tools: {} } };

/** Far longer than any test takes, in milliseconds. */
const LONG_MS = 600_000;

async function open(script: Script, options: { readonly retry?: BackoffOptions } = {}) {
  await using stack = new AsyncDisposableStack();
  const http = stack.use(new HttpMcpServer("streamable", script));
  const fleet = stack.use(
    new Fleet({
      limits: DEFAULT_SERVER_LIMITS,
      log: silentLogger,
      listen: () => ({ ...deafListener, onRunning() {}, onStateChange() {} }),
      resolve: (config) => Promise.resolve(readResolved(config.name, config)),
    }),
  );
  const { servers } = parseConfig({ servers: { s: http.config() } });
  fleet.follow(servers);
  const server = fleet.get("s");
  if (server === undefined) throw new TypeError("No server");
  await within(server.settled(), "the MCP server to run");
  const reads = new Reads();
  const lists: string[] = [];
  const failures: unknown[] = [];
  const list = new ServerList<string, string>({
    server,
    kind: "resources",
    read: () => reads.begin(),
    take: (entries) => Promise.resolve(entries.join()),
    onList: (entries) => void lists.push(entries),
    onFailure: (error) => void failures.push(error),
    ...options,
  });
  stack.defer(() => list.onStopped());
  const opened = stack.move();
  return { server, list, reads, lists, failures, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The requests for the list, which the test answers. */
class Reads {
  readonly #begun: PromiseWithResolvers<readonly string[]>[] = [];
  #more = Promise.withResolvers<void>();

  get count(): number {
    return this.#begun.length;
  }

  begin(): Promise<readonly string[]> {
    const read = Promise.withResolvers<readonly string[]>();
    this.#begun.push(read);
    this.#more.resolve();
    this.#more = Promise.withResolvers();
    return read.promise;
  }

  /** The n-th request, from 1, once it is there. */
  async nth(count: number): Promise<PromiseWithResolvers<readonly string[]>> {
    while (true) {
      const read = this.#begun[count - 1];
      if (read !== undefined) return read;
      await within(this.#more.promise, `request ${count} for the list`);
    }
  }
}

Deno.test("a ServerList is requested at the start of a session, and given to its owner", async () => {
  await using opened = await open(ANNOUNCING);
  const { list, reads, lists } = opened;
  assertEquals(reads.count, 0);
  list.restart();
  (await reads.nth(1)).resolve(["a", "b"]);
  await list.settled();
  assertEquals([reads.count, lists], [1, ["a,b"]]);
});

Deno.test("a ServerList of a server without the capability is never requested, and always up to date", async () => {
  await using opened = await open(WITHOUT_LIST);
  const { list, reads } = opened;
  list.restart();
  list.onChanged();
  assertEquals([await list.refresh(0), reads.count], [true, 0]);
});

Deno.test("refresh() requests nothing while no change is announced", async () => {
  await using opened = await open(ANNOUNCING);
  const { list, reads } = opened;
  list.restart();
  (await reads.nth(1)).resolve([]);
  assertEquals(await list.refresh(LONG_MS), true);
  assertEquals([await list.refresh(LONG_MS), reads.count], [true, 1]);
});

Deno.test("refresh() requests the list each time when the server does not announce changes", async () => {
  await using opened = await open(SILENT);
  const { list, reads, lists } = opened;
  for (const [index, entry] of ["a", "b"].entries()) {
    const refreshed = list.refresh(LONG_MS);
    (await reads.nth(index + 1)).resolve([entry]);
    assertEquals(await refreshed, true);
  }
  assertEquals(lists, ["a", "b"]);
});

Deno.test("callers at the same time share one request", async () => {
  await using opened = await open(SILENT);
  const { list, reads } = opened;
  const refreshed = [1, 2, 3].map(() => list.refresh(LONG_MS));
  (await reads.nth(1)).resolve([]);
  assertEquals([await Promise.all(refreshed), reads.count], [[true, true, true], 1]);
});

Deno.test("changes while a request runs lead to one more, however many they are", async () => {
  await using opened = await open(ANNOUNCING);
  const { list, reads, lists } = opened;
  list.restart();
  const first = await reads.nth(1);
  for (let count = 0; count < 1_000; count++) list.onChanged();
  assertEquals(reads.count, 1);
  first.resolve(["old"]);
  (await reads.nth(2)).resolve(["new"]);
  assertEquals(await list.refresh(LONG_MS), true);
  assertEquals([reads.count, lists], [2, ["old", "new"]]);
});

Deno.test("a caller whose time is over gets what is there, and others do not wait until the server answers", async () => {
  await using opened = await open(ANNOUNCING);
  const { list, reads } = opened;
  list.restart();
  assertEquals(await list.refresh(1), false);
  assertEquals(await list.refresh(LONG_MS), false);
  (await reads.nth(1)).resolve([]);
  await list.settled();
  assertEquals([await list.refresh(LONG_MS), reads.count], [true, 1]);
});

Deno.test("what a request of the last session answers is dropped, and the list is requested again", async () => {
  await using opened = await open(ANNOUNCING);
  const { server, list, reads, lists } = opened;
  list.restart();
  const last = await reads.nth(1);
  server.restart();
  await within(server.settled(), "the MCP server to run again");
  list.restart();
  last.resolve(["last session"]);
  (await reads.nth(2)).resolve(["this session"]);
  assertEquals(await list.refresh(LONG_MS), true);
  assertEquals(lists, ["this session"]);
});

Deno.test("a failure in the last session is none of this one", async () => {
  await using opened = await open(ANNOUNCING, { retry: { firstMs: 1, maxMs: 1 } });
  const { server, list, reads, lists, failures } = opened;
  list.restart();
  const last = await reads.nth(1);
  server.restart();
  await within(server.settled(), "the MCP server to run again");
  list.restart();
  last.reject(new RangeError("last session"));
  (await reads.nth(2)).resolve(["this session"]);
  assertEquals(await list.refresh(LONG_MS), true);
  assertEquals([lists, failures], [["this session"], []]);
});

Deno.test("a failure is told, and tried again after a wait if there is one", async () => {
  await using opened = await open(ANNOUNCING, { retry: { firstMs: 1, maxMs: 1 } });
  const { list, reads, lists, failures } = opened;
  list.restart();
  const error = new RangeError("broken");
  (await reads.nth(1)).reject(error);
  (await reads.nth(2)).resolve(["a"]);
  assertEquals(await list.refresh(LONG_MS), true);
  assertEquals([failures, lists], [[error], ["a"]]);
});

Deno.test("without a wait, the next refresh() tries again after a failure", async () => {
  await using opened = await open(ANNOUNCING);
  const { list, reads, lists, failures } = opened;
  list.restart();
  (await reads.nth(1)).reject(new RangeError("broken"));
  await list.settled();
  assertEquals([failures.length, reads.count], [1, 1]);
  const refreshed = list.refresh(LONG_MS);
  (await reads.nth(2)).resolve(["a"]);
  assert(await refreshed);
  assertEquals(lists, ["a"]);
});

Deno.test("a request that fails after its server was stopped is not tried again, and leaves no timer", async () => {
  await using opened = await open(ANNOUNCING, { retry: { firstMs: LONG_MS, maxMs: LONG_MS } });
  const { server, list, reads, failures } = opened;
  list.restart();
  const read = await reads.nth(1);
  await server.stop();
  list.onStopped();
  read.reject(new RangeError("too late"));
  await list.settled();
  assertEquals([failures, reads.count], [[], 1]);
});

Deno.test("onStopped() cancels what is due: a retry, and a request after a change", async () => {
  await using opened = await open(ANNOUNCING, { retry: { firstMs: LONG_MS, maxMs: LONG_MS } });
  const { server, list, reads } = opened;
  list.restart();
  (await reads.nth(1)).reject(new RangeError("broken"));
  await list.settled();
  list.onChanged();
  (await reads.nth(2)).resolve([]);
  await list.settled();
  list.onChanged();
  await server.stop();
  list.onStopped();
  assertEquals([await list.refresh(LONG_MS), reads.count], [true, 2]);
});
