import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { splitText } from "../../../../src/gateway/search/split.ts";

Deno.test("splitText() keeps a text that fits as it is", () => {
  assertEquals(splitText("short", 10), [{ text: "short" }]);
  assertEquals(splitText("", 10), [{ text: "" }]);
});

Deno.test("splitText() cuts a plain text at the end of a line, and gives all of it", () => {
  const text = "one line\ntwo lines\nthree lines\n";
  const parts = splitText(text, 20).map((part) => part.text);
  assertEquals(parts, ["one line\ntwo lines\n", "three lines\n"]);
});

Deno.test("splitText() never cuts a character as a reader sees it", () => {
  // A family of four is one character of eleven code units.
  const family = "👨‍👩‍👧‍👦";
  for (const max of [12, 25, 40]) {
    const parts = splitText(family.repeat(10), max).map((part) => part.text);
    assertEquals(parts.join(""), family.repeat(10));
    for (const part of parts) assertEquals(part.replaceAll(family, ""), "");
  }
});

Deno.test("splitText() gives all of any text in parts that are not too long and whole", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.integer({ min: 70, max: 100 }),
      (raw, max) => {
        const text = `.${raw}`;
        const parts = splitText(text, max).map((part) => part.text);
        assertEquals(parts.join(""), text);
        for (const part of parts) assert(part.length <= max && part.isWellFormed() === text.isWellFormed());
      },
    ),
  );
});

Deno.test("splitText() splits a list between its items, and says which ones a part has", () => {
  const text = JSON.stringify(Array.from({ length: 10 }, (_, index) => ({ id: index })));
  const parts = splitText(text, 30);
  assertEquals(parts[0], { text: '[{"id":0},{"id":1},{"id":2}]', place: "$[0..2]" });
  assertEquals(parts.flatMap((part) => JSON.parse(part.text)), JSON.parse(text));
});

Deno.test("splitText() splits what is too long inside of a list or an object, and says where it was", () => {
  const value = { meta: { page: 1 }, items: ["a".repeat(60), "b"], text: "c".repeat(90) };
  const parts = splitText(JSON.stringify(value), 40);
  for (const part of parts) JSON.parse(part.text);
  assertEquals(parts[0], { text: '{"meta":{"page":1}}', place: "$" });
  const places = parts.map(({ place }) => place);
  assert(places.includes("$.items[0], piece 1 of 2"));
  assert(places.includes("$.items[1..1]"));
  assert(places.some((place) => place?.startsWith("$.text, piece")));
  const letters = (letter: string, at: string) =>
    parts.filter(({ place }) => place?.startsWith(at)).map(({ text }) => JSON.parse(text)).join("").split(
      letter,
    ).length - 1;
  assertEquals([letters("a", "$.items[0]"), letters("c", "$.text")], [60, 90]);
});

Deno.test("splitText() gives parts of any JSON that are JSON and not too long", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
    const text = JSON.stringify([value]);
    for (const part of splitText(text, 64)) {
      JSON.parse(part.text);
      assert(part.text.length <= 64, part.text);
    }
  }));
});

Deno.test("splitText() keeps numbers and texts as they are written", () => {
  const ids = '[ {"id": 12345678901234567890}, {"ratio": 1.0, "quote": "a \\" [ b"} ]';
  assertEquals(splitText(ids, 40).map((part) => part.text), [
    '[{"id":12345678901234567890}]',
    '[{"ratio":1.0,"quote":"a \\" [ b"}]',
  ]);
});

Deno.test("splitText() gives all of any list of texts and numbers", () => {
  const item = fc.oneof(fc.string({ maxLength: 30 }), fc.double({ noNaN: true }), fc.constant([]));
  fc.assert(fc.property(fc.array(item, { minLength: 1 }), (list) => {
    const text = JSON.stringify(list, null, 2);
    const joined = splitText(text, 200).flatMap((part) => JSON.parse(part.text));
    assertEquals(JSON.stringify(joined), JSON.stringify(list));
  }));
});

Deno.test("splitText() treats JSON that is nested very deeply as a plain text", () => {
  const text = `${"[".repeat(5_000)}"${"x".repeat(5_000)}"${"]".repeat(5_000)}`;
  const parts = splitText(text, 1_000);
  assertEquals(parts.map((part) => part.text).join(""), text);
  assertEquals(parts[0]?.place, undefined);
});

Deno.test("splitText() names a member in a place by its key, shortened and quoted where needed", () => {
  const placeOf = (key: string) => splitText(JSON.stringify({ [key]: "v".repeat(90) }), 90)[0]?.place;
  assertEquals(placeOf("rows"), "$.rows, piece 1 of 2");
  assertEquals(placeOf("my rows"), '$["my rows"], piece 1 of 2');
  assertEquals(placeOf("k".repeat(1_000)), `$["${"k".repeat(60)}…"], piece 1 of 2`);
});
