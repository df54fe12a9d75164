import { ResourceSchema } from "@modelcontextprotocol/sdk/types.js";
import { assertEquals, assertThrows } from "@std/assert";
import { toListedWindow } from "../../../src/provider/windows/options.ts";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  type Audience,
  type FailedRequest,
  Provider,
  type ReadRequest,
  type WindowOptions,
} from "../../../src/provider/mod.ts";
import { Provided } from "./_provided.ts";

const URI = "window://com.example.app/status";
const STATUS: WindowOptions = { uri: URI, name: "Status", text: "idle" };

/** The entries of `resources/list` as they came. */
async function entries(provided: Provided): Promise<unknown> {
  return (await provided.request("resources/list"))["resources"];
}

// proves: desktop-provide-list, desktop-meta-annotations, desktop-audience-assistant, mcp-resource, mcp-annotations
Deno.test("publishWindow() lists a window with its annotations and its _meta", async () => {
  await using provided = await Provided.open((provider) => {
    provider.publishWindow({
      ...STATUS,
      description: "What the app does",
      mimeType: "text/markdown",
      priority: 0.6,
      fullscreen: false,
      audience: ["user", "assistant"],
      lastModified: new Date("2026-01-15T08:30:00Z"),
    });
    provider.publishWindow({ host: "Com.Example.App", path: ["src/main", "a b"], name: "Editor", text: "" });
  });
  assertEquals(await entries(provided), [
    {
      uri: URI,
      name: "Status",
      description: "What the app does",
      mimeType: "text/markdown",
      annotations: {
        audience: ["user", "assistant"],
        priority: 0.6,
        lastModified: "2026-01-15T08:30:00.000Z",
      },
      _meta: { fullscreen: false },
    },
    {
      uri: "window://com.example.app/src%2Fmain/a%20b",
      name: "Editor",
      mimeType: "text/plain",
      annotations: { audience: ["assistant"] },
    },
  ]);
});

// proves: desktop-provide-read, mcp-read, mcp-contents
Deno.test("a window is read as text contents, under the URI that was asked for", async () => {
  await using provided = await Provided.open((provider) => void provider.publishWindow(STATUS));
  assertEquals(await provided.request("resources/read", { uri: URI }), {
    contents: [{ uri: URI, mimeType: "text/plain", text: "idle" }],
  });
  const other = "WINDOW://Com.Example.App/st%61tus/";
  assertEquals(await provided.request("resources/read", { uri: other }), {
    contents: [{ uri: other, mimeType: "text/plain", text: "idle" }],
  });
});

Deno.test("read() makes the text for each reader and learns of the request", async () => {
  const requests: ReadRequest[] = [];
  await using provided = await Provided.open((provider) =>
    void provider.publishWindow({
      uri: URI,
      name: "Clock",
      read: (request) => Promise.resolve(`read ${requests.push(request)} times`),
    })
  );
  assertEquals([await provided.text(URI), await provided.text(URI)], ["read 1 times", "read 2 times"]);
  assertEquals(requests[0]?.signal.aborted, false);
});

// proves: mcp-error-internal
Deno.test("a read() that throws is -32603 to the client, and its text goes to the server's onerror", async () => {
  await using provided = await Provided.open((provider) =>
    void provider.publishWindow({
      uri: URI,
      name: "Broken",
      read: () => Promise.reject(new Error("password is hunter2")),
    })
  );
  assertEquals(await provided.refusal("resources/read", { uri: URI }), [-32603, undefined]);
  assertEquals(provided.errors.map(({ message }) => message), ["password is hunter2"]);
});

// proves: mcp-error-internal
Deno.test("onError hears of a callback's error and of the request that it failed", async () => {
  const heard: unknown[] = [];
  const onError = ({ message }: Error, request: FailedRequest) => void heard.push([message, request]);
  await using provided = await Provided.open((provider) =>
    void provider.publishWindow({
      uri: URI,
      name: "Broken",
      read: () => {
        throw new Error("password is hunter2");
      },
    }), { onError });
  assertEquals(await provided.refusal("resources/read", { uri: URI }), [-32603, undefined]);
  assertEquals(heard, [["password is hunter2", { method: "resources/read", uri: URI }]]);
});

Deno.test("an onerror that throws keeps neither the client's answer nor onError from being called", async () => {
  const heard: string[] = [];
  const servers: McpServer[] = [];
  await using provided = await Provided.open((provider, server) => {
    servers.push(server);
    provider.publishWindow({ uri: URI, name: "Broken", read: () => Promise.reject(new Error("first")) });
  }, { onError: ({ message }) => void heard.push(message) });
  for (const { server } of servers) {
    server.onerror = () => {
      throw new Error("second");
    };
  }
  assertEquals(await provided.refusal("resources/read", { uri: URI }), [-32603, undefined]);
  assertEquals(heard, ["first"]);
});

// proves: desktop-provide-updated, mcp-subscribe, mcp-updated
Deno.test("update() changes the text and tells who subscribed, under the subscriber's own spelling", async () => {
  const spelled = "window://com.example.app/st%61tus/";
  await using provided = await Provided.open();
  const status = provided.provider.publishWindow(STATUS);
  assertEquals(await provided.heard(), ["list_changed"]);
  status.update("unheard");
  assertEquals(await provided.heard(), []);
  await provided.subscribe(spelled);
  status.update("busy");
  assertEquals(await provided.heard(), [`updated ${spelled}`]);
  assertEquals(await provided.text(URI), "busy");
  await provided.client.unsubscribeResource({ uri: spelled });
  status.update("unheard again");
  assertEquals(await provided.heard(), []);
});

Deno.test("a burst of updates is told once, and the last one holds", async () => {
  await using provided = await Provided.open();
  const status = provided.provider.publishWindow(STATUS);
  await provided.subscribe(URI);
  await provided.heard();
  for (let i = 1; i <= 10_000; i++) status.update(`update ${i}`);
  assertEquals(await provided.heard(), [`updated ${URI}`]);
  assertEquals(await provided.text(URI), "update 10000");
});

// proves: desktop-provide-list-changed, mcp-list-changed
Deno.test("a window that comes, changes its look or goes changes the list, and every client is told", async () => {
  await using provided = await Provided.open();
  const status = provided.provider.publishWindow(STATUS);
  assertEquals(await provided.heard(), ["list_changed"]);
  status.set({ priority: 1, fullscreen: true, name: "State" });
  assertEquals(await provided.heard(), ["list_changed"]);
  assertEquals(await entries(provided), [{
    uri: URI,
    name: "State",
    mimeType: "text/plain",
    annotations: { audience: ["assistant"], priority: 1 },
    _meta: { fullscreen: true },
  }]);
  status.set({ priority: 1, description: undefined });
  assertEquals(await provided.heard(), []);
  status.remove();
  status.remove();
  assertEquals(await provided.heard(), ["list_changed"]);
  assertEquals(await provided.uris(), []);
  assertEquals(await provided.refusal("resources/read", { uri: URI }), [-32002, { uri: URI }]);
});

Deno.test("publishWindow() refuses a priority that is not a number from 0 to 1 with a RangeError", () => {
  for (const priority of [-0.1, 1.01, 80, NaN, Infinity]) {
    assertThrows(
      () => new Provider().publishWindow({ ...STATUS, priority }),
      RangeError,
      `Cannot publish window "${URI}": its priority "${priority}" is not a number from 0 to 1`,
    );
  }
  const status = new Provider().publishWindow({ ...STATUS, priority: 0 });
  assertThrows(() => status.set({ priority: 2 }), RangeError, "from 0 to 1");
});

Deno.test("publishWindow() refuses what would be listed wrongly", () => {
  const refused: readonly [unknown, string][] = [
    [{ uri: `${URI}?priority=80` }, "a window URI has no query"],
    [{ uri: "dpe://com.example.app" }, 'it does not start with "window://"'],
    [{ uri: undefined, host: "" }, "the host is empty"],
    [{ name: "" }, "it has no name"],
    [{ fullscreen: "yes" }, "fullscreen is not a boolean"],
    [{ audience: ["everybody"] }, 'its audience is not a list of "user" and "assistant"'],
    [{ audience: [] satisfies Audience[] }, 'its audience is not a list of "user" and "assistant"'],
    [{ text: undefined }, "either text or read()"],
    [{ read: () => "" }, "either text or read()"],
  ];
  for (const [wrong, message] of refused) {
    assertThrows(
      () => new Provider().publishWindow(Object.assign({}, STATUS, wrong)),
      TypeError,
      message,
    );
  }
  for (
    const lastModified of [
      new Date("yesterday"),
      "yesterday",
      "5 Nov 2026",
      "2026-13-01",
      "2026-02-30",
      "2026-01-15T24:00:00Z",
      "2026-01-15T08",
      "2026-01-15T08:30:00+0200",
      "2026-01",
      "2026-01-15Z",
      "",
      5,
      null,
      {},
    ]
  ) {
    assertThrows(
      () => new Provider().publishWindow(Object.assign({}, STATUS, { lastModified })),
      RangeError,
      "lastModified",
    );
  }
});

Deno.test("a window takes its date as text, too, and lists it as a full instant", () => {
  for (
    const [lastModified, listed] of [
      ["2026-01-15T08:30:00Z", "2026-01-15T08:30:00Z"],
      ["2026-01-15", "2026-01-15T00:00:00Z"],
      ["2026-01-15T08:30", "2026-01-15T08:30:00Z"],
      ["2026-01-15T08:30:00", "2026-01-15T08:30:00Z"],
      ["2026-01-15 08:30:00.25", "2026-01-15T08:30:00.25Z"],
      ["2026-01-15T08:30+02:00", "2026-01-15T08:30:00+02:00"],
      ["2026-01-15t08:30:00z", "2026-01-15T08:30:00Z"],
    ] as const
  ) {
    const window = toListedWindow("window://a", { name: "a", lastModified });
    assertEquals(window.annotations?.lastModified, listed);
    assertEquals(ResourceSchema.parse(window).uri, "window://a");
  }
});

Deno.test("a window is published once, and may be published again when it was removed", () => {
  const provider = new Provider();
  const status = provider.publishWindow(STATUS);
  assertThrows(
    () => provider.publishWindow({ ...STATUS, uri: `${URI}/` }),
    TypeError,
    "already published",
  );
  status.remove();
  assertThrows(() => status.update("late"), TypeError, "removed");
  provider.publishWindow(STATUS);
});
