import { assertEquals } from "@std/assert";
import fc from "../../../fixtures/fast_check.ts";
import { buildPath, hasPath, type McpPlace, parsePath } from "../../../../src/gateway/http/paths.ts";
import { nameProblem } from "../../../../src/protocol/names.ts";

Deno.test("parsePath() reads an office, and a part of it, each name one segment", () => {
  const places: readonly (readonly [string, McpPlace])[] = [
    ["/mcp", { office: undefined, scope: { kind: "all" } }],
    ["/mcp/search", { office: undefined, scope: { kind: "search" } }],
    ["/mcp/c/search", { office: undefined, scope: { kind: "computer", computer: "search" } }],
    ["/mcp/o/lab", { office: "lab", scope: { kind: "all" } }],
    ["/mcp/o/l%61b", { office: "lab", scope: { kind: "all" } }],
    ["/mcp/o/search/search", { office: "search", scope: { kind: "search" } }],
    ["/mcp/o/a%2Fb/c/%F0%9F%92%BB", { office: "a/b", scope: { kind: "computer", computer: "💻" } }],
  ];
  for (const [path, place] of places) assertEquals(parsePath(path), place, path);
});

Deno.test("parsePath() reads nothing else", () => {
  const others = [
    "/",
    "/mcp/",
    "/mcp/o",
    "/mcp/o/",
    "/mcp/o/lab/",
    "/mcp/o/lab/den",
    "/mcp/o/lab/search/more",
    "/mcp/o/lab/c",
    "/mcp/o/%00",
    "/mcp/o/%20lab",
    "/mcp/o/%FF",
    "/mcp/o/%zz",
    `/mcp/o/${"x".repeat(129)}`,
    "/mcp/c/a/b",
    "/mcpx",
    "/x/mcp",
  ];
  for (const path of others) assertEquals(parsePath(path), undefined, path);
});

Deno.test("each office and Computer has one path, which leads to it", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 })
    .map((text) => text.normalize("NFKC")).filter((text) => nameProblem(text) === undefined);
  fc.assert(fc.property(name, name, (office, computer) => {
    const place: McpPlace = { office, scope: { kind: "computer", computer } };
    assertEquals(parsePath(buildPath(place)), place);
  }));
});

Deno.test("an office whose name a URL takes for a step has no path", () => {
  for (const office of ["lab", "..", ".", "...", ".lab", "a/b"]) {
    const { pathname } = new URL(buildPath({ office, scope: { kind: "all" } }), "http://hub");
    assertEquals(hasPath(office), parsePath(pathname)?.office === office, office);
  }
});
