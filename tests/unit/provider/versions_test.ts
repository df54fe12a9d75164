// @ts-types="@modelcontextprotocol/sdk/types"
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, InMemoryTransport, McpServer, ProtocolError } from "@modelcontextprotocol/server";
import { assertEquals, assertThrows } from "@std/assert";
import { Provider, type PublishedDocuments, type PublishedWindow } from "../../../src/provider/mod.ts";
import { within } from "../../fixtures/within.ts";
import { has2025, serve, SERVINGS } from "./_served.ts";
import { HOST, SIMPLE } from "./_report.ts";

const WINDOW = { uri: `window://${HOST}/w`, name: "W", text: "window" };
const DOCUMENT = `dpe://${HOST}/rpt-2026`;
const README = "file:///readme";

for (const serving of SERVINGS) {
  const notFound = has2025(serving) ? -32002 : -32602;

  Deno.test(`${serving}: lists and reads what is published beside what is registered with the SDK`, async () => {
    await using served = await serve(serving, (provider, author) => {
      provider.publishWindow(WINDOW);
      provider.publishDocuments(SIMPLE);
      author.register(README, "Read me");
    });
    const { result } = await served.request("resources/list");
    const uris = Array.isArray(result?.["resources"]) ? result["resources"].map(({ uri }) => uri) : [];
    assertEquals(uris.slice(0, 3), [README, WINDOW.uri, DOCUMENT]);
    for (const [uri, text] of [[README, "Read me"], [WINDOW.uri, "window"]] as const) {
      const { result } = await served.request("resources/read", { uri });
      const [content] = Array.isArray(result?.["contents"]) ? result["contents"] : [];
      assertEquals(content?.text, text);
    }
  });

  Deno.test(`${serving}: completes a template of documents`, async () => {
    await using served = await serve(serving, (provider) => void provider.publishDocuments(SIMPLE));
    const { result } = await served.request("completion/complete", {
      ref: { type: "ref/resource", uri: `dpe://${HOST}/{doc_ref}/pages/{page_index}` },
      argument: { name: "doc_ref", value: "rpt" },
    });
    assertEquals(result?.["completion"], { values: ["rpt-2026"], total: 1, hasMore: false });
  });

  // proves: mcp-error-not-found
  Deno.test(`${serving}: answers ${notFound} for a resource that nobody has`, async () => {
    await using served = await serve(serving, (provider, author) => {
      provider.publishWindow(WINDOW);
      author.register(README, "Read me");
    });
    for (const uri of ["file:///other", "window://other", "no uri at all"]) {
      const { error } = await served.request("resources/read", { uri });
      assertEquals([error?.code, error?.data], [notFound, { uri }]);
    }
  });

  Deno.test(`${serving}: passes an error of either version of the SDK on, and hides any other`, async () => {
    const failures: string[] = [];
    const thrown = [
      new McpError(-32050, "Locked", { until: "noon" }),
      new ProtocolError(-32050, "Locked", { until: "noon" }),
      new Error("Cannot open /secret"),
    ];
    await using served = await serve(serving, (provider) =>
      void provider.publishWindow({
        uri: WINDOW.uri,
        name: "W",
        read: () => {
          throw thrown.shift();
        },
      }), { onError: ({ message }) => void failures.push(message) });
    for (let i = 0; i < 2; i++) {
      const { error } = await served.request("resources/read", { uri: WINDOW.uri });
      assertEquals(error, { code: -32050, message: "Locked", data: { until: "noon" } });
    }
    const { error } = await served.request("resources/read", { uri: WINDOW.uri });
    assertEquals(error, { code: -32603, message: "Internal error" });
    assertEquals(failures, ["Cannot open /secret"]);
  });

  // proves: mcp-subscribe, mcp-updated
  Deno.test(`${serving}: tells of changes of what the client follows, and of the list`, async () => {
    const windows: PublishedWindow[] = [];
    await using served = await serve(serving, (provider) => {
      windows.push(provider.publishWindow({ ...WINDOW, uri: `window://${HOST}/other` }));
      windows.push(provider.publishWindow(WINDOW));
    });
    await served.follow(WINDOW.uri, README);
    for (const window of windows) window.update("new");
    assertEquals(await served.told(), `updated ${WINDOW.uri}`);
    served.provider.resourceUpdated(README);
    assertEquals(await served.told(), `updated ${README}`);
    for (const window of windows) window.remove();
    assertEquals(await served.told(), "list_changed");
  });

  Deno.test(`${serving}: tells of a changed document`, async () => {
    const published: PublishedDocuments[] = [];
    await using served = await serve(serving, (provider) => {
      published.push(provider.publishDocuments(SIMPLE));
    });
    await served.follow(DOCUMENT);
    for (const documents of published) documents.changed("rpt-2026");
    assertEquals(await served.told(), `updated ${DOCUMENT}`);
  });
}

for (const serving of SERVINGS.filter((serving) => !has2025(serving))) {
  Deno.test(`${serving}: completes each answer as 2026-07-28 requires`, async () => {
    await using served = await serve(serving, (provider) => {
      provider.publishWindow(WINDOW);
      provider.publishDocuments(SIMPLE);
    });
    const cacheable: [string, Record<string, unknown>][] = [
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["resources/read", { uri: WINDOW.uri }],
    ];
    for (const [method, params] of cacheable) {
      const { result } = await served.request(method, params);
      assertEquals([result?.["resultType"], result?.["ttlMs"], result?.["cacheScope"]], [
        "complete",
        0,
        "private",
      ]);
    }
  });

  Deno.test(`${serving}: says how long a window may be used`, async () => {
    await using served = await serve(
      serving,
      (provider) => void provider.publishWindow(WINDOW),
      { ttlMs: 5_000 },
    );
    const { result } = await served.request("resources/read", { uri: WINDOW.uri });
    assertEquals([result?.["ttlMs"], result?.["cacheScope"]], [5_000, "private"]);
  });

  Deno.test(`${serving}: leaves what the revision does not have to the SDK, which refuses it`, async () => {
    await using served = await serve(serving, (provider) => void provider.publishWindow(WINDOW));
    const { error } = await served.request("resources/subscribe", { uri: WINDOW.uri });
    assertEquals(error?.code, -32601);
  });
}

Deno.test("2.x, 2026 on stdio: a request that does not tell its revision is refused", async () => {
  await using served = await serve("2.x, 2026 on stdio", (provider, author) => {
    provider.publishWindow(WINDOW);
    author.register(README, "Read me");
  });
  await served.request("resources/list");
  const { error } = await served.requestBare("resources/read", { uri: WINDOW.uri });
  assertEquals(error?.code, -32602);
});

Deno.test("a change reaches the clients of every handler, also when one of them fails", async () => {
  const failed = Promise.withResolvers<string>();
  const provider = new Provider({
    onError: ({ message }, { method }) => failed.resolve(`${method}: ${message}`),
  });
  const told: string[] = [];
  const done = Promise.withResolvers<void>();
  provider.attach({
    notify: {
      resourcesChanged() {},
      resourceUpdated: () => {
        throw new Error("The broker is gone");
      },
    },
  });
  provider.attach({
    notify: {
      resourcesChanged: () => void told.push("list"),
      resourceUpdated: (uri) => {
        told.push(uri);
        done.resolve();
      },
    },
  });
  provider.publishWindow(WINDOW).update("new");
  await within(done.promise, "the change");
  assertEquals(told, ["list", WINDOW.uri]);
  assertEquals(await within(failed.promise, "the failure"), "subscriptions/listen: The broker is gone");
});

Deno.test("a time that is no whole number from 0 is refused", () => {
  for (const ttlMs of [-1, 0.5, NaN, Infinity]) {
    assertThrows(() => new Provider({ ttlMs }), RangeError, "ttlMs");
  }
});

Deno.test("a handler is attached once", async () => {
  const provider = new Provider();
  const handler = createMcpHandler(() => new McpServer({ name: "s", version: "1.0.0" }));
  provider.attach(handler);
  assertThrows(() => provider.attach(handler), TypeError, "attached");
  await handler.close();
});

Deno.test("a server of version 2 keeps the transport that it was connected to", async () => {
  const server = new McpServer({ name: "s", version: "1.0.0" });
  new Provider().attach(server);
  const [left] = InMemoryTransport.createLinkedPair();
  await server.connect(left);
  assertEquals(server.server.transport === left, true);
  await server.close();
});
