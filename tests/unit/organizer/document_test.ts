import { assertEquals } from "@std/assert";
import { organizeFinder } from "../../../src/organizer/finder.ts";
import type { OrganizerWarning } from "../../../src/organizer/warning.ts";
import { listWarnings, makeDocument } from "./_documents.ts";

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
