import { assertEquals, assertThrows } from "@std/assert";
import {
  documentKey,
  parseResourceUri,
  tryParseResourceUri,
} from "../../../../src/computer/resources/resource_uri.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";

Deno.test("a document's key is the same for all its URIs, and that of a host its Level 0", () => {
  const keys = ["dpe://D/a%62", "dpe://d/ab/pages/3", "dpe://d/ab/elements/x?format=text"].map(documentKey);
  assertEquals(new Set(keys), new Set(["dpe://d/ab"]));
  assertEquals([
    documentKey("dpe://d"),
    documentKey("dpe://d/"),
    documentKey("file:///x"),
    documentKey("dpe://"),
  ], [
    "dpe://d",
    "dpe://d",
    undefined,
    undefined,
  ]);
});

Deno.test("a window's key is the same for all spellings of its host and path", () => {
  const keys = ["window://W/a?p=1", "window://w/%61/", "WINDOW://w/a"].map((uri) => {
    const parsed = parseResourceUri(uri);
    return parsed.kind === "window" ? [parsed.host, parsed.key, parsed.raw === uri] : parsed;
  });
  assertEquals(keys, Array(3).fill(["w", "window://w/a", true]));
});

Deno.test("a URI of another scheme has no host and no key, and is never refused", () => {
  for (const raw of ["file:///x", "", "windows://a", "dpe:"]) {
    if (raw === "dpe:") assertEquals(tryParseResourceUri(raw), undefined);
    else assertEquals(parseResourceUri(raw), { kind: "other", raw });
  }
});

Deno.test("an invalid dpe:// URI is 4204, an invalid window:// URI is 400", () => {
  const codeOf = (raw: string) => assertThrows(() => parseResourceUri(raw), SmcpError).code;
  assertEquals([codeOf("dpe://"), codeOf("dpe://d/doc/x"), codeOf("window://")], [4204, 4204, 400]);
  assertEquals(tryParseResourceUri("window://"), undefined);
});
