import { assertEquals, assertThrows } from "@std/assert";
import { parseReply, parseRequest, toLine } from "../../../../src/cli/control/message.ts";

const lineOf = (message: Parameters<typeof toLine>[0]) => new TextDecoder().decode(toLine(message));

Deno.test("parseRequest() reads what toLine() writes", () => {
  const request = { version: "1.0.0", words: ["call", "a\nb"], json: true, columns: 40, colors: true };
  const line = lineOf(request);
  assertEquals([line.split("\n").length, parseRequest(line)], [2, request]);
});

Deno.test("parseRequest() refuses everything but an object with words", () => {
  for (const line of [undefined, "", "null", "[]", "{}", '{"words":"status"}', "hello"]) {
    assertThrows(() => parseRequest(line), TypeError, "words");
  }
});

Deno.test("parseReply() tells progress and answers apart, and ignores anything else", () => {
  assertEquals(parseReply('{"progress":"reading"}'), { progress: "reading" });
  const answer = { output: "done", error: "", exitCode: 0 };
  assertEquals(parseReply(lineOf(answer)), answer);
  for (const line of ["", "null", "[]"]) assertEquals(parseReply(line), undefined);
});
