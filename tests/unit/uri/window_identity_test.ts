import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { windowIdentity, windowQueryOf, withoutQuery } from "../../../src/uri/window_identity.ts";
import { buildWindowUri, parseWindowUri } from "../../../src/uri/window_uri.ts";
import { host, hostileText } from "./_arbitraries.ts";

// proves: desktop-uri-query
Deno.test("windowIdentity() is the same for all spellings of a host and path", () => {
  for (
    const raw of [
      "window://host/a%20b",
      "window://HOST/a b/?x=1",
      "WINDOW://host/%61%20b",
      "window://host/a b?",
    ]
  ) {
    assertEquals(windowIdentity(raw), "window://host/a%20b");
  }
});

// proves: desktop-uri-encoded-slash
Deno.test("windowIdentity() tells an encoded slash from a separating one", () => {
  assertEquals(windowIdentity("window://host/a%2fb"), "window://host/a%2Fb");
  assertEquals(windowIdentity("window://host/a/b"), "window://host/a/b");
});

// proves: desktop-filter-uri
Deno.test("windowIdentity() of what is no window URI is undefined", () => {
  for (const raw of ["", "window://", "https://host/a", "window://host//", "window://host/%zz"]) {
    assertEquals(windowIdentity(raw), undefined);
  }
});

// proves: desktop-uri-query
Deno.test("windowIdentity() of a built URI is that URI", () => {
  fc.assert(fc.property(host, fc.array(hostileText), (host, path) => {
    const built = buildWindowUri({ host, path });
    assertEquals(windowIdentity(built), built);
    assertEquals(windowIdentity(`${built}/?priority=1`), built);
    assertEquals(parseWindowUri(built), { host, path });
  }));
});

// proves: desktop-uri-query
Deno.test("windowQueryOf() tells the query that parsing drops", () => {
  assertEquals(windowQueryOf("window://host/a?priority=80?"), "priority=80?");
  assertEquals(windowQueryOf("window://host/a?"), "");
  assertEquals(windowQueryOf("window://host/a"), undefined);
});

// proves: desktop-render-pure-uri
Deno.test("withoutQuery() keeps the rest as it was listed", () => {
  assertEquals(withoutQuery("window://Host/a b/?priority=80"), "window://Host/a b/");
  assertEquals(withoutQuery("window://Host/a b"), "window://Host/a b");
});
