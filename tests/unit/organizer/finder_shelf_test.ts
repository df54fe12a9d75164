import { assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { DocumentShelf, organizeFinder } from "../../../src/organizer/finder.ts";
import { type PreparedDocument, prepareDocument } from "../../../src/organizer/document.ts";
import type { DPEDocumentSummary } from "../../../src/protocol/dpe.ts";
import { anyDocuments, anyQuery, makeDocument, organizeShelves } from "./_documents.ts";

function prepare(document: DPEDocumentSummary): PreparedDocument | undefined {
  return prepareDocument(document, () => {});
}

/** The shelves of documents that were listed in this order. */
function shelve(documents: readonly DPEDocumentSummary[]): Map<string, DocumentShelf> {
  const groups = Map.groupBy(documents, ({ server }) => server);
  return new Map([...groups].map(([server, group]) => {
    const shelf = new DocumentShelf();
    shelf.follow(group.map(({ doc_ref }) => doc_ref));
    for (const document of group) shelf.set(document.doc_ref, prepare(document));
    return [server, shelf];
  }));
}

function refsOf(shelf: DocumentShelf): string[] {
  return shelf.documents.map(({ document }) => document.doc_ref);
}

// proves: finder-modified-order, finder-keyword-any
Deno.test("organizeShelves() returns what organizeFinder() returns", () => {
  fc.assert(fc.property(anyDocuments, anyQuery, fc.nat(10), (documents, query, offset) => {
    const valid = documents.filter((document) => typeof document.server === "string");
    const options = { ...query, offset, limit: 5 };
    assertEquals(organizeShelves(shelve(valid), options), organizeFinder(valid, options));
  }));
});

Deno.test("organizeShelves() matches a keyword within one text only, whatever is in it", () => {
  const document = makeDocument("d", { title: "red", summary: "sea" });
  for (const keyword of ["red\0sea", "red sea", "redsea"]) {
    assertEquals(organizeShelves(shelve([document]), { keywords: [keyword] }).totalCount, 0);
  }
  const odd = makeDocument("d", { title: "red\0sea" });
  assertEquals(organizeShelves(shelve([odd]), { keywords: ["SEA"] }).totalCount, 1);
  assertEquals(organizeShelves(shelve([odd]), { keywords: ["red\0sea"] }).totalCount, 0);
});

Deno.test("organizeShelves() finds each mention across many segments of text", () => {
  const documents = Array.from(
    { length: 3_000 },
    (_, i) =>
      makeDocument(`d${i}`, {
        summary: `${"text ".repeat(1_000)}${i % 7 === 0 ? "needle needle" : "needl e"}`,
      }),
  );
  const { totalCount } = organizeShelves(shelve(documents), { keywords: ["needle"], limit: 0 });
  assertEquals(totalCount, organizeFinder(documents, { keywords: ["needle"], limit: 0 }).totalCount);
});

Deno.test("a shelf keeps the order of a sort of all through any changes", () => {
  const anyChange = fc.record({
    ref: fc.nat(20).map((n) => `d${n}`),
    day: fc.option(fc.integer({ min: 1, max: 5 })),
  });
  fc.assert(
    fc.property(fc.array(anyChange), fc.shuffledSubarray([...Array(21).keys()]), (changes, listed) => {
      const keys = listed.map((n) => `d${n}`);
      const shelf = new DocumentShelf();
      const states = new Map<string, DPEDocumentSummary>();
      shelf.follow(keys);
      for (const { ref, day } of changes) {
        const state = makeDocument(ref, day === null ? {} : { last_modified: `2026-01-0${day}T00:00:00Z` });
        shelf.set(ref, prepare(state));
        if (keys.includes(ref)) states.set(ref, state);
        const inListOrder = keys.map((key) => states.get(key)).filter((each) => each !== undefined);
        assertEquals(
          refsOf(shelf),
          organizeFinder(inListOrder, { limit: 100 }).documents.map((d) => d.doc_ref),
        );
      }
    }),
  );
});

Deno.test("a shelf lets go of what its server no longer lists, and of what cannot be read", () => {
  const shelf = new DocumentShelf();
  shelf.follow(["a", "b", "c"]);
  for (const key of ["a", "b", "c"]) shelf.set(key, prepare(makeDocument(key)));
  shelf.set("b", undefined);
  assertEquals(refsOf(shelf), ["a", "c"]);
  shelf.follow(["c", "b"]);
  assertEquals([refsOf(shelf), shelf.documents.length], [["c"], 1]);
});

Deno.test("a shelf orders ties anew when its server lists them in another order", () => {
  const shelf = new DocumentShelf();
  shelf.follow(["a", "b"]);
  for (const key of ["a", "b"]) shelf.set(key, prepare(makeDocument(key)));
  assertEquals(refsOf(shelf), ["a", "b"]);
  shelf.follow(["b", "a"]);
  assertEquals(refsOf(shelf), ["b", "a"]);
});
