import { assert, assertEquals, assertThrows } from "@std/assert";
import { costOfTexts, JsonCost, maxCostOf } from "../../../src/json/cost.ts";

/** What the JSON of a value costs, taken in pieces of so many bytes. */
function costOf(value: unknown, pieceBytes = 65_536): number {
  return costOfText(JSON.stringify(value), pieceBytes);
}

function costOfText(text: string, pieceBytes = 65_536): number {
  const cost = new JsonCost();
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    cost.push(bytes.subarray(start, start + pieceBytes));
  }
  return cost.values;
}

Deno.test("rows of the same names cost their members, however many rows there are", () => {
  const rows = Array.from(
    { length: 25_000 },
    (_, id) => ({ id, name: `n${id}`, mail: "a@b", sum: 1.5, ok: true }),
  );
  const cost = costOf({ rows });
  assert(cost >= 250_000 && cost < 390_000, `${cost}`);
});

Deno.test("names that no object had before cost far more than their number", () => {
  const names = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 0]));
  const shapes = Array.from({ length: 100_000 }, (_, index) => ({ [`k${index}`]: 0 }));
  const long = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => ["k".repeat(70) + index, 0]));
  assert(costOf(names) > 800_000);
  assert(costOf(shapes) > 800_000);
  assert(costOf(long) > 80_000);
});

Deno.test("objects of the same names in ever another order cost like new names", () => {
  const names = [..."abcdefgh"];
  const rows = Array.from({ length: 40_000 }, (_, number) => {
    const rest = [...names];
    let left = number;
    const order = names.map(() => {
      const [name = ""] = rest.splice(left % rest.length, 1);
      left = Math.floor(left / (rest.length + 1));
      return name;
    });
    return Object.fromEntries(order.map((name) => [name, 0]));
  });
  assert(costOf(rows) > 1.2 * costOf(rows.map(() => rows[0])), `${costOf(rows)}`);
});

Deno.test("short texts that did not occur before cost more than those that did, and long ones do not", () => {
  const count = 20_000;
  const texts = Array.from({ length: count }, (_, index) => `t${index}`);
  const same = costOf(Array(count).fill("t1000"));
  assert(costOf(texts) > 2.9 * same);
  assert(costOf(texts.map((text) => `${text}${"x".repeat(10)}`)) < 1.1 * same);
});

Deno.test("costOfTexts() adds texts up, each of which begins anew, and stops over the limit", () => {
  const list = JSON.stringify(Array(1_000).fill("中"));
  assertEquals(costOfTexts([list], Infinity), costOfText(list));
  assertEquals(costOfTexts(['"', "[[[", list], Infinity), 12 + costOfText(list));
  const stopped = costOfTexts(Array(100).fill(list), 5_000);
  assert(stopped > 5_000 && stopped < 7_000, `${stopped}`);
  assertEquals(costOfTexts(["x".repeat(65_535) + "😀,".repeat(10)], Infinity), 10);
  assertThrows(() => costOfTexts(["[".repeat(1_001)], Infinity), RangeError, "1000 levels");
});

Deno.test("a text that is nested too deep is refused", () => {
  assertThrows(() => costOfText("[".repeat(1_001)), RangeError, "1000 levels");
  costOfText("[".repeat(1_000) + "]".repeat(1_000) + "{".repeat(1_000));
});

Deno.test("what a text holds costs by its bytes and its escapes", () => {
  assertEquals(costOf("[{,:".repeat(10_000)), 0);
  assertEquals(costOf("x".repeat(1_048_574 + 128_000)), 1_000);
  assertEquals(costOf("\n".repeat(8_000)), 2_000);
  assertEquals(costOf('"'.repeat(8_000)), 2_000);
});

Deno.test("the cost is the same whatever the pieces", () => {
  const value = { "n\\a": ['x"y', "y".repeat(200), { a: '\\"' }, { a: "\\" }], ["k".repeat(80)]: 1 };
  for (const size of [1, 2, 3, 7, 63, 64, 65]) assertEquals(costOf(value, size), costOf(value), `${size}`);
});

Deno.test("what is no JSON cannot hide what follows", () => {
  assertEquals(costOfText('event: "\ndata: [1,2,3]'), costOfText('event: ""\ndata: [1,2,3]'));
});

Deno.test("costOfTexts() counts long texts as JsonCost counts their bytes, wherever an escape or a quote stands", () => {
  const plain = "é中".repeat(40_000);
  for (const filler of ["", "x", "xyz"]) {
    for (
      const text of [
        `${plain}\\n${plain}`,
        `${plain}\\"${filler}${plain}`,
        `${plain}","${plain}":{},"${filler}`,
      ]
    ) {
      const json = `{"${filler}a":"${text}", "b":[1,{"c":"${plain}"}]}`;
      const cost = new JsonCost();
      cost.push(new TextEncoder().encode(json));
      assertEquals(costOfTexts([json], Infinity), cost.values);
    }
  }
});

Deno.test("maxCostOf() is never less than the cost of the text with its strings", () => {
  const ends = ["x".repeat(3_000_000), "\\n".repeat(400_000), "中".repeat(500_000)];
  const beginnings = [`[${"[],".repeat(10_000)}"`, `{"k":"`, `[${"0,".repeat(10_000)}"`];
  for (const beginning of beginnings) {
    for (const end of ends) {
      const bound = maxCostOf(beginning, { cutLength: end.length, hasEscapes: end.startsWith("\\") });
      assert(
        bound >= costOfTexts([beginning + end], Infinity),
        `${beginning.slice(0, 9)} ${end.slice(0, 2)}`,
      );
    }
  }
});
