import { assertEquals } from "@std/assert";
import { DEFAULT_LIMITS } from "../../../../src/config/limits.ts";
import { sameWindows, SortedResources } from "../../../../src/computer/resources/kinds.ts";

function sorted(uris: readonly string[], limits: Partial<typeof DEFAULT_LIMITS> = {}) {
  const sorter = new SortedResources({ ...DEFAULT_LIMITS, ...limits });
  for (const uri of uris) sorter.add({ uri });
  return sorter;
}

function sort(...uris: string[]) {
  const { windows, windowUris, documentUris, hosts, invalid } = sorted(uris);
  return {
    windows: windows.map(({ uri }) => uri),
    windowUris: Object.fromEntries(windowUris),
    documentUris: Object.fromEntries(documentUris),
    hosts: [...hosts],
    invalid,
  };
}

Deno.test("resources are told apart by scheme and level, and only Level 1 is a document", () => {
  assertEquals(
    sort("window://w/a", "dpe://d", "dpe://d/doc", "dpe://e/doc/pages/0", "file:///x", "dpe://", "window://"),
    {
      windows: ["window://w/a"],
      windowUris: { "window://w/a": "window://w/a" },
      documentUris: { "dpe://d/doc": "dpe://d/doc" },
      hosts: ["w", "d", "e"],
      invalid: ["dpe://", "window://"],
    },
  );
});

Deno.test("of several spellings of one window or document the first counts", () => {
  const { windowUris, documentUris } = sort(
    "window://W/a?p=1",
    "window://w/a/",
    "DPE://d/%64oc",
    "dpe://d/doc?depth=pages",
  );
  assertEquals(windowUris, { "window://w/a": "window://W/a?p=1" });
  assertEquals(documentUris, { "dpe://d/doc": "DPE://d/%64oc" });
});

// proves: desktop-list-differs, desktop-list-same
Deno.test("two lists show the same windows when URIs, annotations and metadata are the same", () => {
  const a = { uri: "window://w/a", annotations: { priority: 1 }, _meta: { x: 1 }, name: "a" };
  const b = { uri: "window://w/b" };
  assertEquals(sameWindows([a, b], [{ ...a, name: "other" }, b]), true);
  assertEquals(sameWindows([a, b], [b, a]), true);
  assertEquals(sameWindows([a, b], [a, a]), false);
  assertEquals(sameWindows([a, b], [a]), false);
  assertEquals(sameWindows([a], [{ ...a, annotations: { priority: 0 } }]), false);
  assertEquals(sameWindows([a], [{ ...a, _meta: {} }]), false);
  assertEquals(sameWindows([a], [{ ...a, uri: "window://w/c" }]), false);
});

Deno.test("what is too large, or too much, is counted and left out, and the rest is kept", () => {
  const uris = [
    "window://w/a",
    `window://w/${"x".repeat(500)}`,
    "window://w/b",
    "window://w/c",
    "dpe://d/doc",
  ];
  const { windows, documentUris, tooLarge, excess } = sorted(uris, { maxEntryBytes: 400, maxListed: 2 });
  assertEquals(windows.map(({ uri }) => uri), ["window://w/a", "window://w/b"]);
  assertEquals([documentUris.size, tooLarge, excess], [1, 1, 1]);
  const small = sorted(["dpe://d/a", "dpe://d/b", "dpe://d/c"], { maxListBytes: 20 });
  assertEquals([small.documentUris.size, small.excess], [2, 1]);
});

Deno.test("what is kept of the resources of skills takes room of the list", () => {
  const sorter = new SortedResources({ ...DEFAULT_LIMITS, maxListBytes: 2_000 });
  for (const name of ["a", "b", "c"]) {
    sorter.add({ uri: `skill://s/${name}`, _meta: { source: "resources", more: "x".repeat(900) } });
  }
  const { skills, excess } = sorter;
  assertEquals([skills.map(({ uri }) => uri), excess], [["skill://s/a", "skill://s/b"], 1]);
});
