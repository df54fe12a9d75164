import { assertEquals } from "@std/assert";
import { closestWord, didYouMean, unknownName } from "../../../src/text/spelling.ts";

const known = ["command", "args", "env", "server_parameters", "stdio", "sse"];

Deno.test("closestWord() finds the word behind a typing mistake", () => {
  const cases: [written: string, meant: string | undefined][] = [
    ["comand", "command"],
    ["commnad", "command"],
    ["Args", "args"],
    ["argz", "args"],
    ["serverParameters", "server_parameters"],
    ["parameters", undefined],
    ["studio", "stdio"],
    ["", undefined],
    ["zzz", undefined],
  ];
  for (const [written, meant] of cases) assertEquals(closestWord(written, known), meant, written);
});

Deno.test("closestWord() allows no more differences than it is told", () => {
  assertEquals(closestWord("tken_fil", ["token_file"], { maxDistance: 2 }), "token_file");
  assertEquals(closestWord("tken_fil", ["token_file"], { maxDistance: 1 }), undefined);
});

Deno.test("closestWord() does not compare very long words", () => {
  assertEquals(closestWord("x".repeat(10_000), ["xx", "y".repeat(10_000)]), undefined);
  assertEquals(closestWord("coutn", ["y".repeat(10_000), "count"]), "count");
});

Deno.test("didYouMean() returns the end of a message, or nothing", () => {
  assertEquals([didYouMean("comand", known), didYouMean("zzz", known)], ['; did you mean "command"?', ""]);
});

Deno.test("unknownName() lists the known names, at most 20 of them", () => {
  assertEquals(unknownName("server", "x", ["files", "shop"]), 'No server named "x" (servers: files, shop)');
  assertEquals(unknownName("input", "x", []), 'No input named "x" (inputs: none)');
  const many = Array.from({ length: 25 }, (_, i) => `s${i}`);
  assertEquals(unknownName("server", "x", many).endsWith("s19, 5 more)"), true);
});
