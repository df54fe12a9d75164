import { assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { organizeDesktop } from "../../../src/organizer/desktop.ts";
import { listUris, makeWindow } from "./_windows.ts";

const PRIORITY = (priority: number) => ({ resource: { annotations: { priority } } });
const FULLSCREEN = { resource: { _meta: { fullscreen: true } } };

// proves: desktop-aggregate, desktop-size-none
Deno.test("organizeDesktop() without a size shows the windows of all servers", () => {
  const windows = Array.from({ length: 300 }, (_, i) => makeWindow(`s${i % 3}/${i}`));
  assertEquals(organizeDesktop(windows).length, 300);
  assertEquals(organizeDesktop([]), []);
});

// proves: desktop-render-text, desktop-render-join, mcp-contents
Deno.test("organizeDesktop() renders the URI and all texts, parted by blank lines", () => {
  const contents = [{ text: "one" }, { text: "two\n" }, { text: "" }, { text: " three" }];
  assertEquals(organizeDesktop([makeWindow("a/w", { contents })]), [
    "window://a/w\n\none\n\ntwo\n\n\n\n\n three",
  ]);
});

// proves: desktop-render-no-text
Deno.test("organizeDesktop() renders the URI alone when all the text is empty", () => {
  assertEquals(organizeDesktop([makeWindow("a/w", { contents: [{ text: "" }] })]), ["window://a/w"]);
});

// proves: desktop-filter-empty
Deno.test("organizeDesktop() leaves out windows whose contents are empty or absent", () => {
  const windows = [
    makeWindow("a/empty", { contents: [] }),
    makeWindow("a/absent", { contents: undefined }),
    makeWindow("a/null", { contents: null }),
    makeWindow("a/shown"),
  ];
  assertEquals(listUris(windows), ["window://a/shown"]);
});

// proves: desktop-filter-blob, desktop-render-blob, mcp-contents
Deno.test("organizeDesktop() leaves out windows with blobs only, and skips blobs beside text", () => {
  const windows = [
    makeWindow("a/blob", { contents: [{ blob: "AAAA" }] }),
    makeWindow("a/both", { contents: [{ blob: "AAAA" }, { text: "text" }] }),
  ];
  assertEquals(organizeDesktop(windows), ["window://a/both\n\ntext"]);
});

// proves: desktop-filter-uri
Deno.test("organizeDesktop() leaves out windows whose URI is no valid window:// URI", () => {
  const uris = [
    "https://a/b",
    "dpe://a/b",
    "window://",
    "window://a//b",
    "window://a/%zz",
    "window://a/b#f",
    "",
    5,
    null,
  ];
  const windows = uris.map((uri) => makeWindow("a/x", { resource: { uri } }));
  assertEquals(listUris([...windows, makeWindow("a/shown")]), ["window://a/shown"]);
});

// proves: desktop-uri-query, desktop-render-pure-uri
Deno.test("organizeDesktop() shows a window under its URI as listed, without the query", () => {
  assertEquals(listUris([makeWindow("A/file name/?priority=80&fullscreen=true")]), ["window://A/file name/"]);
});

// proves: desktop-uri-query
Deno.test("organizeDesktop() takes two URIs of a server that differ only in the query for one window, the first", () => {
  const windows = [
    makeWindow("a/w?v=1", { contents: [{ text: "first" }] }),
    makeWindow("a/w?v=2", { contents: [{ text: "second" }] }),
    makeWindow("A/%77/", { server: "a", contents: [{ text: "third" }] }),
  ];
  assertEquals(organizeDesktop(windows), ["window://a/w\n\nfirst"]);
});

// proves: desktop-group
Deno.test("organizeDesktop() groups by server name, also where servers share a host", () => {
  const windows = [
    makeWindow("host/w", { server: "b" }),
    makeWindow("host/w", { server: "a" }),
    makeWindow("host/v", { server: "b" }),
  ];
  assertEquals(listUris(windows), ["window://host/w", "window://host/w", "window://host/v"]);
  assertEquals(listUris(windows, { history: ["b"] }), [
    "window://host/w",
    "window://host/v",
    "window://host/w",
  ]);
});

// proves: desktop-meta-source
Deno.test("organizeDesktop() never reads layout from the query", () => {
  const windows = [makeWindow("a/1"), makeWindow("a/2?priority=1&fullscreen=true")];
  assertEquals(listUris(windows), ["window://a/1", "window://a/2"]);
});

// proves: desktop-server-recent
Deno.test("organizeDesktop() shows the servers by their last tool call, the most recent first, each once", () => {
  const windows = ["a", "b", "c"].map((server) => makeWindow(`${server}/w`));
  const history = ["b", "c", "unknown", "b", "c", "a", "b"];
  assertEquals(listUris(windows, { history }), ["window://b/w", "window://a/w", "window://c/w"]);
});

// proves: desktop-server-rest
Deno.test("organizeDesktop() shows servers without a tool call after the others, by code point of their names", () => {
  const servers = ["é", "b", "\u{1F600}", "Z", "a", "used", "\uFF21"];
  const windows = servers.map((server) => makeWindow("h/w", { server, contents: [{ text: server }] }));
  assertEquals(
    organizeDesktop(windows, { history: ["used"] }).map((desktop) =>
      desktop.slice("window://h/w\n\n".length)
    ),
    ["used", "Z", "a", "b", "é", "\uFF21", "\u{1F600}"],
  );
});

// proves: desktop-priority-order, mcp-annotations, mcp-annotations-used
Deno.test("organizeDesktop() shows the windows of a server by priority, the highest first", () => {
  const windows = [0.2, 1, 0, 0.9].map((priority) => makeWindow(`a/${priority}`, PRIORITY(priority)));
  assertEquals(listUris(windows), ["window://a/1", "window://a/0.9", "window://a/0.2", "window://a/0"]);
});

// proves: desktop-priority-order
Deno.test("organizeDesktop() keeps the listing order of windows of equal priority", () => {
  const windows = Array.from({ length: 50 }, (_, i) => makeWindow(`a/${i}`, PRIORITY(0.5)));
  const listed = windows.map((window) => window.resource.uri);
  assertEquals(listUris(windows), listed);
  assertEquals(listUris(windows, { size: 7 }), listed.slice(0, 7));
});

// proves: desktop-priority-order
Deno.test("organizeDesktop() never compares the priorities of two servers", () => {
  const windows = [makeWindow("b/high", PRIORITY(1)), makeWindow("a/low", PRIORITY(0.1))];
  assertEquals(listUris(windows), ["window://a/low", "window://b/high"]);
});

// proves: desktop-missing-priority, desktop-priority-range
Deno.test("organizeDesktop() sorts a priority that is absent, null or out of range as 0", () => {
  const windows = [
    makeWindow("a/absent"),
    makeWindow("a/null", { resource: { annotations: null } }),
    makeWindow("a/null-priority", { resource: { annotations: { priority: null } } }),
    makeWindow("a/80", { resource: { annotations: { priority: 80 } } }),
    makeWindow("a/negative", { resource: { annotations: { priority: -0.1 } } }),
    makeWindow("a/nan", { resource: { annotations: { priority: NaN } } }),
    makeWindow("a/text", { resource: { annotations: { priority: "1" } } }),
    makeWindow("a/low", PRIORITY(0.01)),
  ];
  const shown = listUris(windows);
  assertEquals(shown[0], "window://a/low");
  assertEquals(shown.slice(1), windows.slice(0, -1).map((window) => window.resource.uri));
});

// proves: desktop-fullscreen-alone, desktop-fullscreen-first
Deno.test("organizeDesktop() shows only the first fullscreen window of a server", () => {
  const windows = [
    makeWindow("a/best", PRIORITY(1)),
    makeWindow("a/first", { resource: { annotations: { priority: 0.1 }, _meta: { fullscreen: true } } }),
    makeWindow("a/second", { resource: { annotations: { priority: 0.9 }, _meta: { fullscreen: true } } }),
  ];
  assertEquals(listUris(windows), ["window://a/first"]);
  assertEquals(listUris(windows, { size: 1 }), ["window://a/first"]);
});

// proves: desktop-fullscreen-alone, desktop-filter-empty
Deno.test("organizeDesktop() lets no fullscreen window without contents exclude the others", () => {
  const windows = [makeWindow("a/full", { ...FULLSCREEN, contents: [] }), makeWindow("a/shown")];
  assertEquals(listUris(windows), ["window://a/shown"]);
});

// proves: desktop-fullscreen-per-server
Deno.test("organizeDesktop() shows the other servers beside a fullscreen window", () => {
  const windows = [
    makeWindow("a/1"),
    makeWindow("a/full", FULLSCREEN),
    makeWindow("b/1"),
    makeWindow("b/2"),
    makeWindow("c/full", FULLSCREEN),
  ];
  assertEquals(listUris(windows), ["window://a/full", "window://b/1", "window://b/2", "window://c/full"]);
});

// proves: desktop-missing-fullscreen
Deno.test("organizeDesktop() takes an absent or null fullscreen for false", () => {
  const windows = [
    makeWindow("a/absent"),
    makeWindow("a/null", { resource: { _meta: null } }),
    makeWindow("a/null-value", { resource: { _meta: { fullscreen: null } } }),
    makeWindow("a/false", { resource: { _meta: { fullscreen: false } } }),
  ];
  assertEquals(listUris(windows).length, 4);
});

// proves: desktop-size-zero
Deno.test("organizeDesktop() with a size of zero or less shows nothing", () => {
  for (const size of [0, -1, -Infinity, NaN]) {
    assertEquals(organizeDesktop([makeWindow("a/w")], { size }), []);
  }
});

// proves: desktop-size-cap
Deno.test("organizeDesktop() caps the windows of all servers together", () => {
  const windows = ["a/1", "a/2", "b/1", "b/2"].map((path) => makeWindow(path));
  assertEquals(listUris(windows, { size: 3 }), ["window://a/1", "window://a/2", "window://b/1"]);
  assertEquals(listUris(windows, { size: 9 }).length, 4);
  assertEquals(listUris(windows, { size: Infinity }).length, 4);
});

// proves: desktop-last-modified, mcp-annotations
Deno.test("organizeDesktop() does not order by lastModified", () => {
  const windows = ["2020-01-01", "2026-01-01"].map((lastModified) =>
    makeWindow(`a/${lastModified}`, { resource: { annotations: { lastModified } } })
  );
  assertEquals(listUris(windows), ["window://a/2020-01-01", "window://a/2026-01-01"]);
});

const anyWindow = fc.record({
  path: fc.constantFrom("a/1", "a/2", "a/3", "b/1", "b/2", "c/1").chain((path) =>
    fc.constantFrom("", "?", "?priority=80").map((query) => path + query)
  ),
  priority: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
}).map(({ path, priority }) => makeWindow(path, { resource: { annotations: { priority } } }));

// proves: desktop-size-none, desktop-group
Deno.test("organizeDesktop() shows each window exactly once", () => {
  fc.assert(fc.property(fc.array(anyWindow), fc.array(fc.constantFrom("a", "b", "z")), (windows, history) => {
    const listed = new Set(windows.map((window) => window.resource.uri.replace(/\?.*/, "")));
    assertEquals(listUris(windows, { history }).sort(), [...listed].sort());
  }));
});

// proves: desktop-size-cap
Deno.test("organizeDesktop() with a size shows the beginning of what it shows without", () => {
  fc.assert(fc.property(fc.array(anyWindow), fc.nat(8), (windows, size) => {
    assertEquals(organizeDesktop(windows, { size }), organizeDesktop(windows).slice(0, size));
  }));
});

// proves: desktop-render-pure-uri
Deno.test("organizeDesktop() lets no query survive", () => {
  fc.assert(fc.property(fc.array(anyWindow), (windows) => {
    for (const uri of listUris(windows)) assertEquals(uri.includes("?"), false);
  }));
});
