import { assertEquals } from "@std/assert";
import { fillPlaceholders, findPlaceholders, parsePlaceholder } from "../../../src/config/placeholders.ts";

Deno.test("parsePlaceholder() parses a string that is exactly one placeholder", () => {
  assertEquals(parsePlaceholder("${input:my id}"), { kind: "input", id: "my id" });
  assertEquals(parsePlaceholder("${env:A}"), { kind: "env", name: "A", fallback: undefined });
  assertEquals(parsePlaceholder("${env:A:-b:-c}"), { kind: "env", name: "A", fallback: "b:-c" });
  assertEquals(parsePlaceholder("${env:A:-}"), { kind: "env", name: "A", fallback: "" });
  for (const text of ["", "x", "${A}", "${input:}", "${input:a} ", "${input:a}${input:b}", "${Input:a}"]) {
    assertEquals(parsePlaceholder(text), undefined, text);
  }
});

Deno.test("findPlaceholders() returns each placeholder with its path", () => {
  assertEquals(
    findPlaceholders({ a: ["${input:x} ${env:Y}"], b: { c: "${input:x}" }, d: 1 }).map(({ text, path }) => [
      text,
      path.join("."),
    ]),
    [["${input:x}", "a.0"], ["${env:Y}", "a.0"], ["${input:x}", "b.c"]],
  );
});

Deno.test("fillPlaceholders() keeps the type of a single placeholder, and does not fill in its value again", () => {
  const values = new Map<string, string | number | boolean>([["${input:a}", 7], [
    "${input:b}",
    "${input:a}",
  ]]);
  assertEquals(fillPlaceholders(["${input:a}", "x${input:a}", "${input:b}", "${input:c}", 1, null], values), [
    7,
    "x7",
    "${input:a}",
    "${input:c}",
    1,
    null,
  ]);
});
