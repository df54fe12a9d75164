import { hasDpeScheme, isValidDpeUri, parseDpeUri } from "../../../src/uri/dpe_uri.ts";
/** The eight rules of the guide, one test each, with accepted and refused examples. */
import { assertEquals, assertThrows } from "@std/assert";
import { ELEMENT_CATEGORIES } from "../../../src/protocol/dpe.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";

function assertRule(accepted: readonly string[], refused: readonly string[]): void {
  for (const raw of accepted) {
    parseDpeUri(raw);
    assertEquals(isValidDpeUri(raw), true, raw);
  }
  for (const raw of refused) {
    assertEquals(assertThrows(() => parseDpeUri(raw), SmcpError, undefined, raw).code, 4204);
    assertEquals(isValidDpeUri(raw), false, raw);
  }
}

// proves: dpe-rule-scheme, guide-4204-origin
Deno.test("Rule 1: the scheme must be dpe", () => {
  assertRule(["dpe://host/doc", "Dpe://host"], [
    "window://host/doc",
    "https://host",
    "dpes://host",
    "dpe:host",
  ]);
});

// proves: dpe-rule-host, guide-4204-origin
Deno.test("Rule 2: the host must not be empty", () => {
  assertRule(
    ["dpe://h", "dpe://com.example.docs"],
    ["dpe://", "dpe:///doc", "dpe://?format=json", "dpe://a b", "dpe://a%41", "dpe://u@h", "dpe://a\u0007"],
  );
});

// proves: dpe-rule-sub-path, guide-4204-origin
Deno.test("Rule 3: a sub-path must be pages with a non-negative integer or elements with an id", () => {
  const accepted = [
    "pages/0",
    "pages/12",
    `pages/${Number.MAX_SAFE_INTEGER}`,
    "pages/%31",
    "elements/x",
    "elements/0",
  ];
  const refused = [
    ...["pages", "pages/", "elements", "elements/", "other", "other/1", "Pages/1", "page/1"],
    ...[
      "pages/-1",
      "pages/05",
      "pages/+1",
      "pages/1e3",
      "pages/0x10",
      "pages/1.5",
      "pages/a",
      "pages/ 1",
      "pages/１",
    ],
    ...["pages/9007199254740992", "pages/1/2", "pages/1/elements/x", "elements/a/b"],
  ];
  assertRule(
    accepted.map((path) => `dpe://host/doc/${path}`),
    refused.map((path) => `dpe://host/doc/${path}`),
  );
});

// proves: dpe-rule-format, guide-4204-origin
Deno.test("Rule 4: format must be json, markdown or text", () => {
  assertRule(
    ["dpe://host?format=json", "dpe://host/doc?format=markdown", "dpe://host/doc/elements/x?format=text"],
    [
      "dpe://host?format=html",
      "dpe://host?format=JSON",
      "dpe://host?format=json,text",
      "dpe://host?format=%20json",
    ],
  );
});

// proves: dpe-rule-depth, guide-4204-origin
Deno.test("Rule 5: depth must be metadata or pages, at whatever level it stands", () => {
  assertRule(
    ["dpe://host/doc?depth=metadata", "dpe://host/doc?depth=pages", "dpe://host?depth=pages"],
    ["dpe://host/doc?depth=full", "dpe://host/doc?depth=Pages", "dpe://host/doc/pages/0?depth=x"],
  );
});

// proves: dpe-rule-offset, guide-4204-origin
Deno.test("Rule 6: offset must be a non-negative integer, at whatever level it stands", () => {
  assertRule(
    ["dpe://host/doc?offset=0", "dpe://host/doc?offset=250", "dpe://host?offset=1"],
    ["-1", "05", "+1", "1e3", "0x10", "1.0", "a", "9007199254740992"].map((offset) =>
      `dpe://host/doc?offset=${offset}`
    ),
  );
});

// proves: dpe-rule-limit, guide-4204-origin
Deno.test("Rule 7: limit must be an integer from 1 to 100, at whatever level it stands", () => {
  assertRule(
    ["dpe://host/doc?limit=1", "dpe://host/doc?limit=100", "dpe://host/doc/elements/x?limit=20"],
    ["0", "101", "-1", "05", "1.5", "a", "1e2"].map((limit) => `dpe://host/doc?limit=${limit}`),
  );
});

// proves: dpe-rule-categories, dpe-categories, guide-4204-origin
Deno.test("Rule 8: categories must be a comma-separated list of the 19 element types", () => {
  assertEquals(new Set(ELEMENT_CATEGORIES).size, 19);
  assertRule(
    [
      `dpe://host/doc/pages/0?categories=${ELEMENT_CATEGORIES.join(",")}`,
      "dpe://host/doc/pages/0?categories=table%2Cpivot_table",
      "dpe://host?categories=text",
    ],
    ["Table", "table,", ",table", "table,,text", "table, text", "paragraph", "table;text"].map((list) =>
      `dpe://host/doc/pages/0?categories=${list}`
    ),
  );
});

// proves: dpe-rule-scheme
Deno.test("hasDpeScheme() looks at the scheme alone, in whatever case", () => {
  assertEquals(["dpe://h", "DPE://", "dpe:"].map(hasDpeScheme), [true, true, true]);
  assertEquals(["window://h", "dpes://h", "dpe", " dpe://h", ""].map(hasDpeScheme), Array(5).fill(false));
});
