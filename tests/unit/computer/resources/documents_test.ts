import { assertEquals, assertThrows } from "@std/assert";
import { readDocumentSummary } from "../../../../src/computer/resources/documents.ts";
import { toResourceInfo } from "../../../../src/computer/resources/read.ts";

const origin = { uri: "dpe://d/doc", server: "s" };
const metadata = {
  doc_ref: "doc",
  uri: "dpe://x/other",
  file_uri: "f",
  file_type: "md",
  title: "t",
  page_count: 1,
};

function read(value: unknown) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return readDocumentSummary([{ uri: "x" }, { uri: "x", text }], origin);
}

// proves: guide-collect-level-1, guide-collect-server, data-dpe-document
Deno.test("a summary is the metadata under the listed URI, with its server and without the page index", () => {
  const pages = { pages: [], page_offset: 0, page_limit: 20, page_total: 0 };
  assertEquals(read({ ...metadata, ...pages, keywords: ["k"], extra: 1, server: "forged" }) as unknown, {
    ...metadata,
    keywords: ["k"],
    extra: 1,
    ...origin,
  });
});

Deno.test("optional metadata of a wrong type is left out, a missing required member is refused", () => {
  const { keywords, summary, last_modified } = read({
    ...metadata,
    keywords: "k",
    summary: 1,
    last_modified: null,
  });
  assertEquals([keywords, summary, last_modified], [undefined, undefined, undefined]);
  for (const member of ["doc_ref", "file_uri", "file_type", "title", "page_count"]) {
    assertThrows(() => read({ ...metadata, [member]: undefined }), Error, member);
  }
  for (const page_count of [-1, 1.5, "1"]) assertThrows(() => read({ ...metadata, page_count }));
});

Deno.test("contents without JSON are refused", () => {
  for (const value of ["", "no JSON", "[]", "null"]) assertThrows(() => read(value));
  assertThrows(() => readDocumentSummary([{ uri: "x", blob: "AA==" }], origin), TypeError, "no text");
});

Deno.test("a listed resource is spelled for this wire and loses what is null or of a wrong type", () => {
  const entry = {
    uri: "u",
    name: 1,
    description: null,
    mimeType: "text/plain",
    size: "3",
    annotations: [],
    title: "T",
  };
  assertEquals(toResourceInfo(entry) as unknown, { uri: "u", mime_type: "text/plain", title: "T" });
  for (const bad of [null, "x", {}, { uri: 1 }]) assertEquals(toResourceInfo(bad), undefined);
});
