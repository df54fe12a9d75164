import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";
import {
  buildDpeUri,
  documentsHost,
  type DpeUriParts,
  isValidDpeUri,
  parseDpeUri,
} from "../../../src/uri/dpe_uri.ts";
import { host, hostileText } from "./_arbitraries.ts";

function assertRefused(raw: string, because = ""): void {
  const error = assertThrows(() => parseDpeUri(raw), SmcpError, because);
  assertEquals(error.code, 4204, raw);
  assertEquals(error.details, { uri: raw.toWellFormed() });
  assertEquals(isValidDpeUri(raw), false, raw);
}

// proves: dpe-level-0, dpe-uri-form, guide-uri-parsed
Deno.test("parseDpeUri() reads a catalogue at Level 0", () => {
  assertEquals(parseDpeUri("dpe://com.example.docs"), {
    scheme: "dpe",
    host: "com.example.docs",
    docRef: undefined,
    subPath: undefined,
    queryParams: {},
    level: 0,
    pageIndex: undefined,
    elementId: undefined,
  });
});

// proves: dpe-level-1, dpe-uri-form, guide-uri-parsed
Deno.test("parseDpeUri() reads a document at Level 1", () => {
  const { level, docRef, subPath } = parseDpeUri("dpe://com.example.docs/rpt-2026");
  assertEquals({ level, docRef, subPath }, { level: 1, docRef: "rpt-2026", subPath: undefined });
});

// proves: dpe-level-2, dpe-uri-form, guide-uri-parsed
Deno.test("parseDpeUri() reads a page at Level 2", () => {
  const { level, docRef, subPath, pageIndex, elementId } = parseDpeUri(
    "dpe://com.example.docs/rpt-2026/pages/0",
  );
  assertEquals({ level, docRef, subPath, pageIndex, elementId }, {
    level: 2,
    docRef: "rpt-2026",
    subPath: "pages/0",
    pageIndex: 0,
    elementId: undefined,
  });
});

// proves: dpe-level-3, dpe-opaque-ids, dpe-uri-form, guide-uri-parsed
Deno.test("parseDpeUri() reads an element at Level 3", () => {
  const { level, subPath, pageIndex, elementId } = parseDpeUri(
    "dpe://com.example.docs/rpt-2026/elements/tbl-001",
  );
  assertEquals({ level, subPath, pageIndex, elementId }, {
    level: 3,
    subPath: "elements/tbl-001",
    pageIndex: undefined,
    elementId: "tbl-001",
  });
});

// proves: guide-test-uri-edges
Deno.test("parseDpeUri() refuses the empty string and a scheme alone", () => {
  for (const raw of ["", "dpe", "dpe:", "dpe:/", "dpe://"]) assertRefused(raw);
});

// proves: dpe-uri-doc-ref, guide-test-uri-edges
Deno.test("parseDpeUri() decodes the doc-ref and the element id, slashes inside them included", () => {
  const uri = parseDpeUri("dpe://host/a%2F%E6%96%87/elements/a%2Fb");
  assertEquals([uri.docRef, uri.elementId, uri.subPath], ["a/文", "a/b", "elements/a/b"]);
});

// proves: dpe-uri-doc-ref
Deno.test("parseDpeUri() reads raw spaces and non-ASCII as themselves, and . and .. as ordinary segments", () => {
  assertEquals(parseDpeUri("dpe://host/年 报").docRef, "年 报");
  assertEquals(parseDpeUri("dpe://host/..").docRef, "..");
  assertEquals(parseDpeUri("dpe://host/./elements/..").elementId, "..");
});

// proves: dpe-rule-scheme, dpe-rule-host
Deno.test("parseDpeUri() lower-cases scheme and host, and takes what looks like a port as part of the host", () => {
  assertEquals(parseDpeUri("DPE://Host:3000/Doc").host, "host:3000");
  assertEquals(parseDpeUri("DPE://Host:3000/Doc").docRef, "Doc");
});

// proves: dpe-uri-form
Deno.test("parseDpeUri() ignores one trailing slash", () => {
  assertEquals(parseDpeUri("dpe://host/").level, 0);
  assertEquals(parseDpeUri("dpe://host/doc/").level, 1);
  assertEquals(parseDpeUri("dpe://host/doc/pages/1/?format=text").pageIndex, 1);
});

// proves: dpe-uri-form, guide-uri-4204
Deno.test("parseDpeUri() refuses empty segments, fragments and bad percent-encoding", () => {
  for (
    const raw of ["dpe://host//", "dpe://host//doc", "dpe://host/doc//pages/1", "dpe://host/doc/pages/1//"]
  ) {
    assertRefused(raw, "a segment is empty");
  }
  for (const raw of ["dpe://host#f", "dpe://host/doc#f", "dpe://host?format=json#f"]) {
    assertRefused(raw, "fragment");
  }
  for (
    const raw of [
      "dpe://host/%zz",
      "dpe://host/doc/elements/%",
      "dpe://host/%FF",
      "dpe://host?a=%C3",
      "dpe://host?%=a",
    ]
  ) {
    assertRefused(raw, "percent-encoded");
  }
  for (const raw of ["dpe://host/a\nb", "dpe://host/\ud800"]) assertRefused(raw);
});

// proves: guide-uri-4204, guide-error-details
Deno.test("parseDpeUri() names the whole URI in details and a bounded part in the message", () => {
  const raw = `dpe://host/doc/${"x".repeat(10_000)}`;
  const error = assertThrows(() => parseDpeUri(raw), SmcpError);
  assertStringIncludes(error.message, `Cannot parse dpe URI "dpe://host/doc/xxx`);
  assertEquals([error.message.length < 400, error.details?.["uri"]], [true, raw]);
});

// proves: guide-test-uri-queries
Deno.test("parseDpeUri() reads combinations of query parameters", () => {
  const uri = parseDpeUri("dpe://host/doc?format=markdown&depth=pages&offset=10&limit=5");
  assertEquals(uri.queryParams, { format: "markdown", depth: "pages", offset: "10", limit: "5" });
  assertEquals(parseDpeUri("dpe://host/doc/pages/0?categories=table%2Cpivot_table&format=text").queryParams, {
    categories: "table,pivot_table",
    format: "text",
  });
});

// proves: guide-test-uri-queries
Deno.test("parseDpeUri() refuses a known key that stands twice or has no value", () => {
  for (const query of ["format=json&format=json", "limit=5&offset=1&limit=5", "offset=1&%6Fffset=1"]) {
    assertRefused(`dpe://host/doc?${query}`, "given twice");
  }
  for (const query of ["format=", "format", "depth=", "offset=", "limit", "categories="]) {
    assertRefused(`dpe://host/doc?${query}`);
  }
});

// proves: guide-test-uri-queries
Deno.test("parseDpeUri() keeps unknown keys, of which the first counts", () => {
  assertEquals(parseDpeUri("dpe://host?lang=zh&lang=en&flag&=x&&").queryParams, {
    lang: "zh",
    flag: "",
    "": "x",
  });
  assertEquals(parseDpeUri("dpe://host?").queryParams, {});
});

// proves: guide-test-uri-queries
Deno.test("parseDpeUri() takes a plus in the query as a plus", () => {
  assertEquals(parseDpeUri("dpe://host?q=a+b%2B=c").queryParams, { q: "a+b+=c" });
});

// proves: guide-test-uri-queries
Deno.test("parseDpeUri() reads keys that objects have by nature like any other", () => {
  const { queryParams } = parseDpeUri("dpe://host?__proto__=a&constructor=b");
  assertEquals(Object.entries(queryParams), [["__proto__", "a"], ["constructor", "b"]]);
  assertEquals(queryParams["toString"], undefined);
});

// proves: guide-uri-build
Deno.test("buildDpeUri() builds the URIs of all four levels", () => {
  const host = "com.example.docs";
  assertEquals(buildDpeUri({ host }), "dpe://com.example.docs");
  assertEquals(buildDpeUri({ host: "Com.Example.Docs", docRef: "rpt" }), "dpe://com.example.docs/rpt");
  assertEquals(
    buildDpeUri({ host, docRef: "rpt", subPath: "pages/0" }),
    "dpe://com.example.docs/rpt/pages/0",
  );
  assertEquals(
    buildDpeUri({ host, docRef: "a/b", subPath: "elements/a/b", queryParams: { format: "text" } }),
    "dpe://com.example.docs/a%2Fb/elements/a%2Fb?format=text",
  );
});

// proves: guide-uri-build, mcp-custom-scheme
Deno.test("buildDpeUri() encodes everything but unreserved characters", () => {
  assertEquals(
    buildDpeUri({ host: "h", docRef: "(a)", queryParams: { categories: "text,table", "é&": "1+1=2" } }),
    "dpe://h/%28a%29?categories=text,table&%C3%A9%26=1%2B1%3D2",
  );
});

// proves: dpe-query-categories
Deno.test("buildDpeUri() joins lists by plain commas, and a comma elsewhere stays encoded", () => {
  const uriOf = (queryParams: Record<string, string>) =>
    buildDpeUri({ host: "h", docRef: "a,b", subPath: "pages/0", queryParams });
  assertEquals(
    uriOf({ categories: "table,heading,code" }),
    "dpe://h/a%2Cb/pages/0?categories=table,heading,code",
  );
  assertEquals(
    uriOf({ keywords: "tax & co,2026,é" }),
    "dpe://h/a%2Cb/pages/0?keywords=tax%20%26%20co,2026,%C3%A9",
  );
  for (
    const query of ["categories=table,heading", "categories=table%2Cheading", "categories=table%2cheading"]
  ) {
    assertEquals(parseDpeUri(`dpe://h/d/pages/0?${query}`).queryParams["categories"], "table,heading");
  }
});

// proves: guide-uri-build, guide-uri-4204
Deno.test("buildDpeUri() refuses parts that break a rule, and lone surrogates", () => {
  const refused: DpeUriParts[] = [
    { host: "" },
    { host: "a/b" },
    { host: "a@b" },
    { host: "\ud800" },
    { host: "h", docRef: "" },
    { host: "h", docRef: "\udc00" },
    { host: "h", subPath: "pages/0" },
    { host: "h", docRef: "d", subPath: "" },
    { host: "h", docRef: "d", subPath: "pages" },
    { host: "h", docRef: "d", subPath: "pages/" },
    { host: "h", docRef: "d", subPath: "pages/05" },
    { host: "h", docRef: "d", subPath: "pages/1/2" },
    { host: "h", docRef: "d", subPath: "elements/" },
    { host: "h", docRef: "d", subPath: "elements/\ud800" },
    { host: "h", docRef: "d", subPath: "other/1" },
    { host: "h", queryParams: { limit: "0" } },
    { host: "h", queryParams: { format: "" } },
    { host: "h", queryParams: { q: "\ud800" } },
    { host: "h", queryParams: { "\ud800": "q" } },
  ];
  for (const parts of refused) {
    const error = assertThrows(() => buildDpeUri(parts), SmcpError, "Cannot build dpe URI");
    assertEquals([error.code, typeof error.details?.["uri"]], [4204, "string"]);
  }
});

const subPath = fc.oneof(
  fc.maxSafeNat().map((page) => `pages/${page}`),
  hostileText.map((id) => `elements/${id}`),
);
const knownParams = fc.record({
  format: fc.constantFrom("json", "markdown", "text"),
  depth: fc.constantFrom("metadata", "pages"),
  offset: fc.maxSafeNat().map(String),
  limit: fc.integer({ min: 1, max: 100 }).map(String),
  categories: fc.constantFrom("table", "table,pivot_table"),
}, { requiredKeys: [], noNullPrototype: true });
const queryParams = fc.tuple(knownParams, fc.dictionary(hostileText, hostileText, { noNullPrototype: true }))
  .map(([known, unknown]): Record<string, string> => ({ ...unknown, ...known }));

// proves: guide-uri-build, guide-uri-parsed, guide-test-uri-edges
Deno.test("parseDpeUri(buildDpeUri(parts)) has the same parts", () => {
  const docRefs = fc.option(hostileText, { nil: undefined });
  fc.assert(
    fc.property(
      host,
      docRefs,
      fc.option(subPath, { nil: undefined }),
      queryParams,
      (host, docRef, path, queryParams) => {
        const parts = { host, docRef, subPath: docRef === undefined ? undefined : path, queryParams };
        const parsed = parseDpeUri(buildDpeUri(parts));
        assertEquals(
          { host: parsed.host, docRef: parsed.docRef, subPath: parsed.subPath },
          { host, docRef, subPath: parts.subPath },
        );
        assertEquals(Object.entries(parsed.queryParams).sort(), Object.entries(queryParams).sort());
        assertEquals(parseDpeUri(buildDpeUri(parsed)), parsed);
      },
    ),
  );
});

// proves: guide-uri-4204
Deno.test("parseDpeUri() throws nothing but SmcpError 4204, and isValidDpeUri() agrees", () => {
  const segments = fc.array(fc.oneof(hostileText, fc.constantFrom("pages", "elements", "0", "7", "05"))).map((
    all,
  ) => `dpe://host/${all.join("/")}`);
  fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), segments), (raw) => {
    let valid = true;
    try {
      parseDpeUri(raw);
    } catch (error) {
      if (!(error instanceof SmcpError) || error.code !== 4204) throw error;
      valid = false;
    }
    assertEquals(isValidDpeUri(raw), valid);
  }));
});

Deno.test("documentsHost() is made of the names of folders, in letters that a host may have", () => {
  assertEquals(
    documentsHost(["My Reports (2026)", "Notes", "my_reports--2026"]),
    "local.documents.my-reports-2026-notes",
  );
  assertEquals(documentsHost(["報告"]), "local.documents.報告");
  assertEquals(documentsHost(["...", ""]), "local.documents");
  const many = Array.from({ length: 30 }, (_, number) => `folder ${number}`);
  assertEquals(documentsHost(many), "local.documents.folder-0-and-29-more");
  for (const names of [many, ["報告"], ["ÄÖ"]]) {
    assertEquals(parseDpeUri(`dpe://${documentsHost(names)}/a`).host, documentsHost(names));
  }
});
