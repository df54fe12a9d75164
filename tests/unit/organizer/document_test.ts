import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { organizeFinder } from "../../../src/organizer/finder.ts";
import type { OrganizerWarning } from "../../../src/organizer/warning.ts";
import { listRefs, listWarnings, makeDocument } from "./_documents.ts";

// proves: data-dpe-document
Deno.test("organizeFinder() reports nothing about documents in order, whatever optional fields they lack", () => {
  const documents = [
    makeDocument("a"),
    makeDocument("b", { keywords: null, summary: null, last_modified: null }),
    makeDocument("c", { keywords: ["k"], summary: "s", last_modified: "2026-01-15T08:30:00Z" }),
  ];
  assertEquals(listWarnings(documents, { keywords: ["a", "k"] }), []);
});

// proves: finder-filter-uri
Deno.test("organizeFinder() reports an invalid URI with its server", () => {
  const warnings: OrganizerWarning[] = [];
  organizeFinder([makeDocument("a", { uri: "dpe://", server: "docs" })], {
    onWarning: (warning) => warnings.push(warning),
  });
  assertEquals(warnings.map(({ code, server, uri }) => ({ code, server, uri })), [
    { code: "document-uri", server: "docs", uri: "dpe://" },
  ]);
});

// proves: finder-modified-missing
Deno.test("organizeFinder() reports a last_modified that is no time stamp", () => {
  assertEquals(listWarnings([makeDocument("a", { last_modified: "yesterday" })]), ["document-last-modified"]);
  assertEquals(listWarnings([makeDocument("a", { last_modified: 5 })]), ["document-field"]);
});

// proves: finder-keyword-any
Deno.test("organizeFinder() reports searched fields of wrong types once, and takes them for missing", () => {
  const documents = [
    makeDocument("title", { title: 5, summary: "red" }),
    makeDocument("summary", { summary: ["red"], keywords: ["red"] }),
    makeDocument("keywords", { keywords: "red" }),
    makeDocument("keyword", { keywords: ["red", 5] }),
  ];
  assertEquals(listRefs(documents, { keywords: ["red", "5"] }), ["title", "summary", "keyword"]);
  assertEquals(listWarnings(documents, { keywords: ["red", "5"] }), Array(4).fill("document-field"));
});

// proves: finder-server-rest
Deno.test("organizeFinder() takes a server that is no text for one without a name", () => {
  const documents = [makeDocument("b", { server: "b" }), makeDocument("none", { server: undefined })];
  assertEquals(listRefs(documents), ["none", "b"]);
  assertEquals(listWarnings(documents), ["document-field"]);
});

// proves: finder-filter-uri
Deno.test("organizeFinder() is not broken by a callback that throws", () => {
  const onWarning = () => {
    throw new Error("broken callback");
  };
  assertEquals(
    organizeFinder([makeDocument("a", { uri: "x" }), makeDocument("b")], { onWarning }).totalCount,
    1,
  );
});

// proves: finder-filter-uri
Deno.test("organizeFinder() never throws, whatever a server says of its documents", () => {
  const anything = fc.anything({ withNullPrototype: true, withBigInt: true });
  const fields = fc.record({
    uri: fc.oneof(anything, fc.constant("dpe://h/d")),
    title: anything,
    summary: anything,
    keywords: fc.oneof(anything, fc.array(anything)),
    server: anything,
    file_type: anything,
    last_modified: fc.oneof(anything, fc.string()),
  }, { requiredKeys: [] });
  const documents = fc.array(fields.map((fields) => makeDocument("d", fields)));
  fc.assert(fc.property(documents, fc.array(fc.string()), (documents, keywords) => {
    const { totalCount } = organizeFinder(documents, { keywords, fileType: "", onWarning: () => {} });
    assertEquals(totalCount <= documents.length, true);
  }));
});

// proves: finder-filter-uri
Deno.test("organizeFinder() reports and leaves out what is no document at all", () => {
  const documents: ReturnType<typeof makeDocument>[] = JSON.parse('[null, 5, "dpe://h/d", []]');
  assertEquals(organizeFinder(documents), { documents: [], totalCount: 0 });
  assertEquals(listWarnings(documents), ["document-uri"]);
});
