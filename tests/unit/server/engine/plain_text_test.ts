import { assert, assertEquals, assertThrows } from "@std/assert";
import { deliverPlain, shortenStrings } from "../../../../src/server/engine/plain_text.ts";

const long = "y".repeat(10_000);

function shortened(json: string): string | undefined {
  let short: string | undefined;
  deliverPlain(() => short = shortenStrings(json));
  return short;
}

Deno.test("shortenStrings() keeps the structure and the short strings of a text", () => {
  const json = JSON.stringify(["client:x", { computer: "c", text: long, [long]: [1, long, { é: "中" }] }]);
  const short = shortened(json) ?? "";
  assert(short.length < 7_000);
  const [event, { computer, ...others }] = JSON.parse(short);
  assertEquals([event, computer], ["client:x", "c"]);
  const cut = long.slice(0, 2_047);
  assertEquals(others, { text: cut, [cut]: [1, cut, { é: "中" }] });
});

Deno.test("shortenStrings() makes no invalid JSON valid", () => {
  for (
    const json of [
      `["${long}]`,
      `["${long}" "${long}"]`,
      `["${long}",]`,
      `{"${long}"}`,
      `["${long}"]]`,
      `[${long}]`,
    ]
  ) {
    const short = shortened(json);
    assertThrows(() => JSON.parse(short ?? json), SyntaxError, undefined, json.slice(0, 5));
  }
});

Deno.test("shortenStrings() leaves texts to the parser that have escapes, many strings, or are not known to be plain", () => {
  assertEquals(shortenStrings(`["${long}"]`), undefined);
  assertEquals(shortened(`["\\\\n${long}"]`), undefined);
  assertEquals(shortened(JSON.stringify(Array(5_000).fill("x"))), undefined);
  const fail = () => {
    throw new RangeError("A listener failed");
  };
  assertThrows(() => deliverPlain(fail), RangeError);
  assertEquals(shortenStrings(`["${long}"]`), undefined);
});
