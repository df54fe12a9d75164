import fc from "../../fixtures/fast_check.ts";
import { assert, assertEquals } from "@std/assert";
import { MAX_ROOM, partOf, roomOf } from "../../../src/local_tools/answer_parts.ts";

Deno.test("partOf() divides a text into parts that together are the text, and halves no character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer({ min: 2, max: 9 }), (text, max) => {
      const parts: string[] = [];
      for (let offset = 0; offset < text.length;) {
        const { part, end } = partOf(text, { offset, max });
        assert(part.isWellFormed() && part.length <= max && end > offset);
        parts.push(part);
        offset = end;
      }
      assertEquals(parts.join(""), text);
    }),
  );
});

Deno.test("a part of Chinese has half as many characters as one of English, since it has as many tokens", () => {
  const lengthOf = (character: string) => partOf(character.repeat(100_000), { offset: 0, max: MAX_ROOM }).end;
  assertEquals([lengthOf("a"), lengthOf("果"), lengthOf("∑")], [32_000, 16_000, 10_666]);
  assertEquals(roomOf("aé果∑😀"), 1 + 2 + 2 + 3 + 4);
});
