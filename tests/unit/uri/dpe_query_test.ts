import { assertEquals } from "@std/assert";
import { dpeQueryOf } from "../../../src/uri/dpe_query.ts";
import { parseDpeUri } from "../../../src/uri/dpe_uri.ts";

const DEFAULTS = {
  format: "json",
  depth: "metadata",
  offset: 0,
  limit: 20,
  outline: undefined,
  categories: undefined,
  elements: undefined,
  search: undefined,
  textSearch: undefined,
} as const;

// proves: dpe-query-format, dpe-query-depth, dpe-query-offset, dpe-query-limit, dpe-query-categories
Deno.test("dpeQueryOf() fills in the defaults at every level", () => {
  for (const path of ["", "/doc", "/doc/pages/0", "/doc/elements/x"]) {
    assertEquals(dpeQueryOf(parseDpeUri(`dpe://host${path}`)), DEFAULTS);
  }
});

// proves: dpe-query-format
Deno.test("dpeQueryOf() reads format at every level", () => {
  for (const path of ["", "/doc", "/doc/pages/0", "/doc/elements/x"]) {
    assertEquals(dpeQueryOf(parseDpeUri(`dpe://host${path}?format=markdown`)).format, "markdown");
  }
});

// proves: dpe-query-depth, dpe-query-offset, dpe-query-limit
Deno.test("dpeQueryOf() reads depth, offset and limit at Level 1", () => {
  assertEquals(dpeQueryOf(parseDpeUri("dpe://host/doc?depth=pages&offset=10&limit=5")), {
    ...DEFAULTS,
    depth: "pages",
    offset: 10,
    limit: 5,
  });
});

// proves: dpe-query-categories
Deno.test("dpeQueryOf() reads categories at Level 2", () => {
  const { categories } = dpeQueryOf(parseDpeUri("dpe://host/doc/pages/0?categories=table,pivot_table"));
  assertEquals(categories, ["table", "pivot_table"]);
});

// proves: dpe-query-depth, dpe-query-offset, dpe-query-limit, dpe-query-categories
Deno.test("dpeQueryOf() gives no meaning to a parameter that stands at another level", () => {
  for (const path of ["", "/doc/pages/0", "/doc/elements/x"]) {
    assertEquals(dpeQueryOf(parseDpeUri(`dpe://host${path}?depth=pages&offset=10&limit=5`)), DEFAULTS);
  }
  for (const path of ["", "/doc", "/doc/elements/x"]) {
    assertEquals(dpeQueryOf(parseDpeUri(`dpe://host${path}?categories=table`)), DEFAULTS);
  }
});

Deno.test("dpeQueryOf() reads the pages of an outline at Level 1", () => {
  const outline = (path: string) => dpeQueryOf(parseDpeUri(`dpe://host/doc${path}`)).outline;
  assertEquals(outline("?outline=20-39"), { first: 20, last: 39 });
  assertEquals(outline("?outline=all")?.first, 0);
  for (const other of ["?outline=", "?outline=1", "?outline=a-b", "/pages/0?outline=all"]) {
    assertEquals(outline(other), undefined);
  }
});

Deno.test("dpeQueryOf() reads a search at Level 0", () => {
  const search = (query: string) => dpeQueryOf(parseDpeUri(`dpe://host${query}`)).search;
  assertEquals(search("?keywords=tax,report%202026&offset=10&limit=5"), {
    keywords: ["tax", "report 2026"],
    fileType: undefined,
    offset: 10,
    limit: 5,
  });
  assertEquals(search("?file_type=pdf"), { keywords: [], fileType: "pdf", offset: 0, limit: 20 });
  assertEquals(search("/doc?file_type=pdf"), undefined);
});
