import { assertEquals, assertThrows } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { type FinderQueryOptions, organizeFinder } from "../../../src/organizer/finder.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";
import { anyDocuments, anyQuery, listRefs, makeDocument } from "./_documents.ts";

function makeDocuments(count: number) {
  return Array.from({ length: count }, (_, i) => makeDocument(`d${i}`));
}

// proves: guide-test-empty
Deno.test("organizeFinder() of no documents is empty with a count of 0", () => {
  assertEquals(organizeFinder([]), { documents: [], totalCount: 0 });
});

// proves: finder-aggregate
Deno.test("organizeFinder() returns the documents as they were given", () => {
  const document = makeDocument("d", { keywords: ["k"], summary: "s", future_field: 1 });
  const { documents } = organizeFinder([document]);
  assertEquals(documents[0] === document, true);
});

// proves: finder-filter-uri
Deno.test("organizeFinder() leaves out documents whose URI is no valid dpe:// URI", () => {
  const uris = [
    "",
    "window://h/d",
    "https://h/d",
    "dpe://",
    "dpe://h/d/other",
    "dpe://h/%zz",
    "dpe://h/d?limit=0",
  ];
  const documents = uris.map((uri) => makeDocument("invalid", { uri }));
  assertEquals(organizeFinder([...documents, makeDocument("valid")]).totalCount, 1);
  assertEquals(listRefs([...documents, makeDocument("valid")]), ["valid"]);
});

// proves: finder-filter-uri
Deno.test("organizeFinder() accepts every spelling of a valid URI", () => {
  const uris = [
    "DPE://Host/d",
    "dpe://h/%E6%96%87",
    "dpe://h/文 件",
    "dpe://h/d/",
    "dpe://h/d?format=json&x=1",
  ];
  assertEquals(organizeFinder(uris.map((uri) => makeDocument("d", { uri }))).totalCount, uris.length);
});

// proves: finder-keyword-title
Deno.test("organizeFinder() keeps a document whose title contains a keyword", () => {
  const documents = [makeDocument("a", { title: "Annual report" }), makeDocument("b", { title: "Slides" })];
  assertEquals(listRefs(documents, { keywords: ["report"] }), ["a"]);
});

// proves: finder-keyword-keywords
Deno.test("organizeFinder() keeps a document whose keywords contain a keyword", () => {
  const documents = [
    makeDocument("a", { keywords: ["财务", "年报"] }),
    makeDocument("b", { keywords: ["合同"] }),
  ];
  assertEquals(listRefs(documents, { keywords: ["年报"] }), ["a"]);
});

// proves: finder-keyword-summary
Deno.test("organizeFinder() keeps a document whose summary contains a keyword", () => {
  const documents = [
    makeDocument("a", { summary: "The year's report" }),
    makeDocument("b", { summary: "Slides" }),
  ];
  assertEquals(listRefs(documents, { keywords: ["report"] }), ["a"]);
});

// proves: finder-keyword-any
Deno.test("organizeFinder() keeps a document in which one of several keywords is found", () => {
  const documents = ["red", "green", "blue"].map((title) => makeDocument(title, { title }));
  assertEquals(listRefs(documents, { keywords: ["blue", "red", "nothing"] }), ["red", "blue"]);
});

// proves: guide-keyword-case
Deno.test("organizeFinder() matches whatever the case", () => {
  const documents = [makeDocument("a", { title: "ÉTÉ Report" }), makeDocument("b", { keywords: ["REPORT"] })];
  assertEquals(listRefs(documents, { keywords: ["rEPORT"] }), ["a", "b"]);
  assertEquals(listRefs(documents, { keywords: ["été"] }), ["a"]);
});

// proves: guide-keyword-joined
Deno.test("organizeFinder() searches the keyword list as one text joined by single spaces", () => {
  const documents = [makeDocument("a", { keywords: ["annual", "report"] })];
  assertEquals(listRefs(documents, { keywords: ["annual report"] }), ["a"]);
  assertEquals(listRefs(documents, { keywords: ["annualreport"] }), []);
});

// proves: finder-keyword-any
Deno.test("organizeFinder() never matches across title, summary and keywords", () => {
  const documents = [makeDocument("d", { title: "one", keywords: ["two"], summary: "three" })];
  for (const keyword of ["one two", "one three", "two three", "three two", "onet"]) {
    assertEquals(listRefs(documents, { keywords: [keyword] }), []);
  }
});

// proves: finder-keyword-any, guide-keyword-empty
Deno.test("organizeFinder() finds an empty keyword in every document, whatever others are given", () => {
  const documents = ["red", "blue"].map((title) => makeDocument(title, { title }));
  assertEquals(listRefs(documents, { keywords: ["", "red"] }), ["red", "blue"]);
  assertEquals(listRefs(documents, { keywords: [""] }), ["red", "blue"]);
  assertEquals(listRefs(documents, { keywords: [] }), ["red", "blue"]);
});

Deno.test("organizeFinder() refuses more than 64 keywords, and texts of more than 256 characters", () => {
  const documents = [makeDocument("red", { title: "red" })];
  const fieldOf = (query: FinderQueryOptions) =>
    assertThrows(() => listRefs(documents, query), SmcpError).details?.["field"];
  const words = Array.from({ length: 65 }, (_, index) => `${index}`);
  assertEquals(fieldOf({ keywords: words }), "keywords");
  assertEquals(fieldOf({ keywords: ["x".repeat(257)] }), "keywords");
  assertEquals(fieldOf({ fileType: "x".repeat(257) }), "file_type");
  assertEquals(listRefs(documents, { keywords: [...words.slice(0, 63), "red"] }), ["red"]);
});

// proves: finder-file-type
Deno.test("organizeFinder() keeps exactly the documents of a file type", () => {
  const documents = ["xlsx", "xls", "XLSX", "xlsx "].map((type) => makeDocument(type, { file_type: type }));
  assertEquals(listRefs(documents, { fileType: "xlsx" }), ["xlsx"]);
});

// proves: guide-test-type-none
Deno.test("organizeFinder() of a file type that no document has is empty", () => {
  assertEquals(organizeFinder([makeDocument("a")], { fileType: "pptx" }), { documents: [], totalCount: 0 });
});

// proves: finder-server-recent
Deno.test("organizeFinder() lists the servers by their last tool call, the most recent first, each once", () => {
  const documents = ["a", "b", "c"].map((server) => makeDocument(server, { server }));
  assertEquals(listRefs(documents, { history: ["b", "c", "other", "b", "c", "a", "b"] }), ["b", "a", "c"]);
});

// proves: finder-server-rest
Deno.test("organizeFinder() lists servers without a tool call after the others, by code point of their names", () => {
  const documents = ["é", "b", "\u{1F600}", "Z", "used", "\uFF21"].map((server) =>
    makeDocument(server, { server })
  );
  assertEquals(listRefs(documents, { history: ["used"] }), ["used", "Z", "b", "é", "\uFF21", "\u{1F600}"]);
});

// proves: finder-modified-order
Deno.test("organizeFinder() lists the documents of a server by last_modified, the latest first", () => {
  const documents = ["2026-01-15T08:30:00Z", "2026-02-01T14:00:00Z", "2025-12-31"].map((last_modified) =>
    makeDocument(last_modified, { last_modified })
  );
  assertEquals(listRefs(documents), ["2026-02-01T14:00:00Z", "2026-01-15T08:30:00Z", "2025-12-31"]);
});

// proves: finder-modified-order
Deno.test("organizeFinder() compares last_modified as an instant", () => {
  const documents = ["2026-01-01T10:00:00+09:00", "2026-01-01T02:00:00Z", "2025-12-31T23:00:00-04:00"].map((
    last_modified,
  ) => makeDocument(last_modified, { last_modified }));
  assertEquals(listRefs(documents), [
    "2025-12-31T23:00:00-04:00",
    "2026-01-01T02:00:00Z",
    "2026-01-01T10:00:00+09:00",
  ]);
});

// proves: finder-modified-missing
Deno.test("organizeFinder() lists documents whose last_modified is missing or unreadable last within their server", () => {
  const documents = [
    makeDocument("missing"),
    makeDocument("unreadable", { last_modified: "yesterday" }),
    makeDocument("null", { last_modified: null }),
    makeDocument("old", { last_modified: "1969-01-01" }),
    makeDocument("other server", { server: "t" }),
  ];
  assertEquals(listRefs(documents), ["old", "missing", "unreadable", "null", "other server"]);
});

// proves: guide-order-ties
Deno.test("organizeFinder() keeps the listing order of documents that compare equal", () => {
  const times = ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01"];
  const documents = Array.from(
    { length: 60 },
    (_, i) => makeDocument(`d${i}`, { last_modified: times[i % 3] }),
  );
  const listed = documents.map((document) => document.doc_ref);
  assertEquals(listRefs(documents, { limit: 100 }), listed);
  assertEquals(listRefs(documents, { offset: 10, limit: 10 }), listed.slice(10, 20));
});

// proves: finder-offset, finder-limit, guide-get-finder-defaults
Deno.test("organizeFinder() returns the first 20 documents by default", () => {
  assertEquals(listRefs(makeDocuments(30)), makeDocuments(20).map((document) => document.doc_ref));
});

// proves: finder-offset, finder-limit
Deno.test("organizeFinder() skips offset documents, across servers", () => {
  const documents = ["a0", "a1", "b0", "b1", "c0"].map((ref) => makeDocument(ref, { server: ref[0] }));
  assertEquals(listRefs(documents, { offset: 1, limit: 3 }), ["a1", "b0", "b1"]);
  assertEquals(listRefs(documents, { offset: 4 }), ["c0"]);
});

// proves: finder-limit
Deno.test("organizeFinder() returns 100 documents at most", () => {
  assertEquals(organizeFinder(makeDocuments(120), { limit: 1000 }).documents.length, 100);
});

// proves: guide-test-offset-beyond
Deno.test("organizeFinder() with an offset beyond the end returns no documents but the count", () => {
  for (const offset of [3, 4, Number.MAX_SAFE_INTEGER]) {
    assertEquals(organizeFinder(makeDocuments(3), { offset }), { documents: [], totalCount: 3 });
  }
});

// proves: guide-test-limit-zero
Deno.test("organizeFinder() with a limit of 0 returns no documents but the count", () => {
  assertEquals(organizeFinder(makeDocuments(3), { limit: 0, offset: 1 }), { documents: [], totalCount: 3 });
});

// proves: guide-test-limit-beyond
Deno.test("organizeFinder() with a limit above the total returns all documents", () => {
  assertEquals(listRefs(makeDocuments(3), { limit: 50 }), ["d0", "d1", "d2"]);
});

// proves: guide-test-total-filtered
Deno.test("organizeFinder() counts the documents after filtering, not those of the page", () => {
  const documents = [...makeDocuments(30), makeDocument("x"), makeDocument("invalid", { uri: "dpe://" })];
  assertEquals(organizeFinder(documents, { keywords: ["D"], limit: 5 }).totalCount, 30);
  assertEquals(organizeFinder(documents, { limit: 5 }).totalCount, 31);
});

// proves: finder-offset, finder-limit
Deno.test("organizeFinder() refuses a negative or fractional offset or limit with a 400 that names it", () => {
  for (const field of ["offset", "limit"]) {
    for (const count of [-1, 0.5, NaN, Infinity]) {
      const error = assertThrows(() => organizeFinder([], { [field]: count }), SmcpError);
      assertEquals([error.code, error.details], [400, { field }]);
    }
  }
});

// proves: guide-test-total-filtered, finder-offset, finder-limit
Deno.test("organizeFinder() pages through a permutation of what matches", () => {
  fc.assert(fc.property(anyDocuments, anyQuery, fc.integer({ min: 1, max: 7 }), (documents, query, limit) => {
    const { documents: all, totalCount } = organizeFinder(documents, { ...query, limit: 100 });
    const paged: unknown[] = [];
    for (let offset = 0; offset < totalCount; offset += limit) {
      paged.push(...organizeFinder(documents, { ...query, offset, limit }).documents);
    }
    assertEquals(paged, all);
    assertEquals(new Set(all).size, totalCount);
    assertEquals(all.every((document) => documents.includes(document)), true);
  }));
});
