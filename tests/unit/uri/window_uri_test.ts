import {
  buildWindowUri,
  hasWindowScheme,
  parseWindowUri,
  windowIdentity,
  windowQueryOf,
  withoutQuery,
} from "../../../src/uri/window_uri.ts";
import { host, hostileText } from "./_arbitraries.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";

// proves: desktop-uri-form, desktop-uri-encoded-slash
Deno.test("parseWindowUri() reads host and segments", () => {
  assertEquals(parseWindowUri("window://com.example.browser/main/tab1"), {
    host: "com.example.browser",
    path: ["main", "tab1"],
  });
});

// proves: desktop-uri-form
Deno.test("parseWindowUri() reads a bare host", () => {
  assertEquals(parseWindowUri("window://com.example.logger"), { host: "com.example.logger", path: [] });
});

// proves: desktop-uri-scheme
Deno.test("parseWindowUri() refuses another scheme", () => {
  for (
    const raw of [
      "",
      "window",
      "window:",
      "window:/host",
      "windows://host",
      "dpe://host",
      "host/a",
      " window://host",
    ]
  ) {
    assertThrows(() => parseWindowUri(raw), TypeError);
  }
});

// proves: desktop-uri-scheme
Deno.test("parseWindowUri() lower-cases scheme and host, and no segment", () => {
  assertEquals(parseWindowUri("WINDOW://Com.Example/Main"), { host: "com.example", path: ["Main"] });
});

// proves: desktop-uri-host
Deno.test("parseWindowUri() refuses an empty host", () => {
  for (const raw of ["window://", "window:///a", "window://?q"]) {
    assertThrows(() => parseWindowUri(raw), TypeError);
  }
});

// proves: desktop-uri-host
Deno.test("parseWindowUri() refuses a space, a control character, @ or % in the host", () => {
  for (const host of ["a b", "a\tb", "a\u0085b", "user@host", "a%20b", " "]) {
    assertThrows(() => parseWindowUri(`window://${host}/a`), TypeError);
  }
});

// proves: desktop-uri-host
Deno.test("parseWindowUri() takes what looks like a port as part of the host", () => {
  assertEquals(parseWindowUri("window://host:3000/a"), { host: "host:3000", path: ["a"] });
});

// proves: desktop-uri-encoded-slash
Deno.test("parseWindowUri() keeps an encoded slash inside its segment", () => {
  assertEquals(parseWindowUri("window://host/a/c%2Fd").path, ["a", "c/d"]);
});

// proves: desktop-uri-encoded-slash
Deno.test("parseWindowUri() reads raw spaces and non-ASCII as themselves", () => {
  assertEquals(parseWindowUri("window://host/file name/窗口").path, ["file name", "窗口"]);
});

// proves: desktop-uri-encoded-slash
Deno.test("parseWindowUri() decodes a segment once", () => {
  assertEquals(parseWindowUri("window://host/%252F").path, ["%2F"]);
});

// proves: desktop-uri-form
Deno.test("parseWindowUri() ignores one trailing slash", () => {
  assertEquals(parseWindowUri("window://host/").path, []);
  assertEquals(parseWindowUri("window://host/a/").path, ["a"]);
  assertEquals(parseWindowUri("window://host/a/?q").path, ["a"]);
});

// proves: desktop-uri-encoded-slash
Deno.test("parseWindowUri() refuses an empty segment", () => {
  for (const path of ["//", "//a", "/a//b", "/a//"]) {
    assertThrows(() => parseWindowUri(`window://host${path}`), TypeError, "a segment is empty");
  }
});

// proves: desktop-uri-encoded-slash
Deno.test("parseWindowUri() takes . and .. as ordinary segments", () => {
  assertEquals(parseWindowUri("window://host/a/../%2e/.").path, ["a", "..", ".", "."]);
});

// proves: desktop-uri-encoded-slash
Deno.test("parseWindowUri() refuses what is not percent-encoded UTF-8", () => {
  for (const segment of ["%zz", "%", "%2", "%C3", "%C0%AF", "%ED%A0%80", "%FF"]) {
    assertThrows(() => parseWindowUri(`window://host/${segment}`), TypeError);
  }
});

// proves: desktop-uri-form
Deno.test("parseWindowUri() refuses a fragment", () => {
  for (const raw of ["window://host#a", "window://host/a#", "window://host/a?q#f"]) {
    assertThrows(() => parseWindowUri(raw), TypeError, "fragment");
  }
});

// proves: desktop-uri-form
Deno.test("parseWindowUri() refuses raw control characters and lone surrogates", () => {
  for (const segment of ["a\nb", "a\u0000", "\u007f", "\ud800", "\udc00a"]) {
    assertThrows(() => parseWindowUri(`window://host/${segment}`), TypeError);
  }
});

// proves: desktop-uri-query
Deno.test("parseWindowUri() drops the query, whatever it holds", () => {
  assertEquals(parseWindowUri("window://host/a?priority=80&x=%zz//?"), { host: "host", path: ["a"] });
  assertEquals(parseWindowUri("window://host?priority=80"), { host: "host", path: [] });
});

// proves: desktop-uri-scheme
Deno.test("parseWindowUri() names a bounded part of a long URI", () => {
  const error = assertThrows(() => parseWindowUri(`https://${"a".repeat(10_000)}`), TypeError);
  assertStringIncludes(error.message, `Cannot parse window URI "https://aaa`);
  assertEquals(error.message.length < 400, true);
});

// proves: desktop-build-special
Deno.test("buildWindowUri() joins host and segments", () => {
  assertEquals(
    buildWindowUri({ host: "com.example.browser", path: ["main", "tab1"] }),
    "window://com.example.browser/main/tab1",
  );
});

// proves: desktop-build-bare
Deno.test("buildWindowUri() builds the bare URI of a host", () => {
  assertEquals(buildWindowUri({ host: "com.example.logger", path: [] }), "window://com.example.logger");
  assertEquals(buildWindowUri({ host: "Com.Example.Logger" }), "window://com.example.logger");
});

// proves: desktop-build-special
Deno.test("buildWindowUri() encodes slashes and spaces, and parsing brings them back", () => {
  const uri = { host: "com.example.editor", path: ["src/main", "file name"] };
  assertEquals(buildWindowUri(uri), "window://com.example.editor/src%2Fmain/file%20name");
  assertEquals(parseWindowUri(buildWindowUri(uri)), uri);
});

// proves: desktop-uri-encoded-slash, mcp-custom-scheme
Deno.test("buildWindowUri() encodes everything but unreserved characters", () => {
  assertEquals(
    buildWindowUri({ host: "h", path: ["aZ09-._~", "!'()*+:@,;=&$", "é"] }).slice(11),
    [
      "aZ09-._~",
      "%21%27%28%29%2A%2B%3A%40%2C%3B%3D%26%24",
      "%C3%A9",
    ].join("/"),
  );
});

// proves: desktop-uri-encoded-slash
Deno.test("buildWindowUri() refuses an empty segment and a lone surrogate", () => {
  for (const path of [[""], ["a", ""], ["\ud800"], ["a\udc00b"]]) {
    assertThrows(() => buildWindowUri({ host: "host", path }), TypeError, "Cannot build window URI");
  }
});

// proves: desktop-uri-host
Deno.test("buildWindowUri() refuses what is no host", () => {
  for (const host of ["", "a b", "a/b", "a?b", "a#b", "a@b", "a%b", "a\n", "\ud800"]) {
    assertThrows(() => buildWindowUri({ host, path: [] }), TypeError, "Cannot build window URI");
  }
});

// proves: desktop-build-special
Deno.test("parseWindowUri(buildWindowUri(uri)) is the same uri", () => {
  fc.assert(fc.property(host, fc.array(hostileText), (host, path) => {
    assertEquals(parseWindowUri(buildWindowUri({ host, path })), { host, path });
  }));
});

// proves: desktop-uri-encoded-slash
Deno.test("parseWindowUri() reads a character and its percent-encoding alike", () => {
  const plain = fc.string({ unit: fc.constantFrom(..."azAZ09-._~"), minLength: 1 });
  fc.assert(fc.property(fc.array(plain), (path) => {
    const encoded = path.map((text) => text.replace(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`));
    const raw = ["window://host:80", ...path].join("/");
    assertEquals(parseWindowUri(raw), { host: "host:80", path });
    assertEquals(parseWindowUri(["window://host:80", ...encoded].join("/")), parseWindowUri(raw));
  }));
});

// proves: desktop-uri-scheme
Deno.test("parseWindowUri() throws nothing but TypeError", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        hostileText.map((text) => `window://${text}`),
      ),
      (raw) => {
        try {
          const uri = parseWindowUri(raw);
          assertEquals(parseWindowUri(buildWindowUri(uri)), uri);
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
        }
      },
    ),
  );
});

// proves: desktop-uri-scheme
Deno.test("hasWindowScheme() looks at the scheme alone, in whatever case", () => {
  assertEquals(["window://h", "WINDOW://", "window:"].map(hasWindowScheme), [true, true, true]);
  assertEquals(
    ["dpe://h", "windows://h", "window", " window://h", ""].map(hasWindowScheme),
    Array(5).fill(false),
  );
});

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
