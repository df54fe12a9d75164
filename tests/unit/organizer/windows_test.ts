import { assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { organizeDesktop } from "../../../src/organizer/desktop.ts";
import type { OrganizerWarning } from "../../../src/organizer/warning.ts";
import { listUris, listWarnings, makeWindow } from "./_windows.ts";

function warningsOf(resource: Record<string, unknown>): string[] {
  return listWarnings([makeWindow("a/w", { resource })]);
}

// proves: desktop-missing-priority, desktop-missing-fullscreen, desktop-audience-assistant
Deno.test("organizeDesktop() reports nothing about a window that is in order or lacks metadata", () => {
  const sound = [
    {},
    { annotations: null, _meta: null },
    {
      annotations: { priority: null, audience: null, lastModified: null },
      _meta: { fullscreen: null, other: 1 },
    },
    { annotations: { priority: 1, audience: ["assistant"], lastModified: "2026-01-15T08:30:00Z" } },
    { annotations: { priority: 0, audience: ["user", "assistant"] }, _meta: { fullscreen: true } },
  ];
  for (const resource of sound) assertEquals(warningsOf(resource), []);
});

// proves: desktop-priority-range, mcp-annotations
Deno.test("organizeDesktop() reports a priority that is not a number from 0 to 1", () => {
  for (const priority of [80, -0.1, 1.0001, NaN, "0.5", true, {}]) {
    assertEquals(warningsOf({ annotations: { priority } }), ["window-priority"]);
  }
});

// proves: desktop-fullscreen-type
Deno.test("organizeDesktop() reports a fullscreen that is not a boolean, and takes it for false", () => {
  for (const fullscreen of ["yes", 1, "true", []]) {
    assertEquals(warningsOf({ _meta: { fullscreen } }), ["window-fullscreen"]);
    assertEquals(
      listUris([makeWindow("a/w", { resource: { _meta: { fullscreen } } }), makeWindow("a/v")]).length,
      2,
    );
  }
});

// proves: desktop-audience-user, mcp-annotations
Deno.test("organizeDesktop() reports an audience without the assistant, and shows the window", () => {
  const windows = [makeWindow("a/w", { resource: { annotations: { audience: ["user"] } } })];
  assertEquals(listWarnings(windows), ["window-audience"]);
  assertEquals(listUris(windows), ["window://a/w"]);
});

// proves: desktop-annotations-mcp, mcp-annotations
Deno.test("organizeDesktop() reports annotations that do not follow MCP, and shows the window", () => {
  const malformed = [
    "text",
    [],
    { audience: "assistant" },
    { audience: ["assistant", "robot"] },
    { lastModified: 5 },
    { lastModified: "yesterday" },
  ];
  for (const annotations of malformed) {
    const windows = [makeWindow("a/w", { resource: { annotations } })];
    assertEquals(listWarnings(windows), ["window-annotations"]);
    assertEquals(listUris(windows), ["window://a/w"]);
  }
});

// proves: desktop-fullscreen-type
Deno.test("organizeDesktop() reports a _meta that is no object", () => {
  assertEquals(warningsOf({ _meta: "fullscreen" }), ["window-meta"]);
});

// proves: desktop-render-blob
Deno.test("organizeDesktop() reports the blobs of a window once", () => {
  const contents = [{ blob: "AA" }, { blob: "BB" }, { text: "text" }];
  assertEquals(listWarnings([makeWindow("a/w", { contents })]), ["window-blob"]);
  assertEquals(listWarnings([makeWindow("a/w", { contents: contents.slice(0, 2) })]), ["window-blob"]);
});

// proves: desktop-filter-uri
Deno.test("organizeDesktop() reports an invalid URI with its server", () => {
  const warnings: OrganizerWarning[] = [];
  organizeDesktop([makeWindow("x", { server: "browser", resource: { uri: "http://h" } })], {
    onWarning: (warning) => warnings.push(warning),
  });
  assertEquals(warnings.map(({ code, server, uri }) => ({ code, server, uri })), [
    { code: "window-uri", server: "browser", uri: "http://h" },
  ]);
});

// proves: desktop-uri-query
Deno.test("organizeDesktop() reports each URI with a query, and the window that it repeats, once", () => {
  const windows = ["a/w?v=1", "a/w?v=2", "a/w?v=2", "a/v"].map((path) => makeWindow(path));
  assertEquals(listWarnings(windows), ["window-query", "window-query", "window-duplicate"]);
});

// proves: desktop-filter-empty
Deno.test("organizeDesktop() reports contents that are neither text nor blob", () => {
  for (const contents of ["text", [null], [{}], [{ text: 5 }]]) {
    assertEquals(listWarnings([makeWindow("a/w", { contents })]), ["window-contents"]);
    assertEquals(listUris([makeWindow("a/w", { contents })]), []);
  }
});

// proves: desktop-audience-user
Deno.test("organizeDesktop() is not broken by a callback that throws", () => {
  const windows = [makeWindow("a/w?q"), makeWindow("a/v", { resource: { annotations: "x" } })];
  const onWarning = () => {
    throw new Error("broken callback");
  };
  assertEquals(organizeDesktop(windows, { onWarning }).length, 2);
});

// proves: desktop-annotations-mcp
Deno.test("organizeDesktop() never throws, whatever a server lists", () => {
  const anything = fc.anything({ withNullPrototype: true, withBigInt: true });
  const resource = fc.record(
    { uri: fc.oneof(anything, fc.constant("window://a/w")), annotations: anything, _meta: anything },
    { requiredKeys: [] },
  );
  const layout = fc.record({
    annotations: fc.record({ priority: anything, audience: anything, lastModified: anything }),
    _meta: fc.record({ fullscreen: anything }),
  });
  const contents = fc.oneof(
    anything,
    fc.array(fc.oneof(anything, fc.record({ text: anything, blob: anything }))),
  );
  fc.assert(fc.property(fc.array(fc.tuple(fc.oneof(resource, layout), contents)), (listed) => {
    const windows = listed.map(([resource, contents], i) => makeWindow(`a/${i}`, { resource, contents }));
    for (const desktop of organizeDesktop(windows, { onWarning: () => {} })) {
      assertEquals(typeof desktop, "string");
    }
  }));
});
