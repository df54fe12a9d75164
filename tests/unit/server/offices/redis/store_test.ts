import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "../../../../fixtures/fast_check.ts";
import { redisKeys, toSeat } from "../../../../../src/server/offices/redis/store.ts";
import { computer } from "../_offices.ts";

const keys = redisKeys("a2c:0");

/** What a Redis Cluster hashes: the text between the first brace and the next closing one. */
function tagOf(key: string): string | undefined {
  return /\{([^}]+)\}/.exec(key)?.[1];
}

Deno.test("the keys of an office have one hash tag, whatever its name", () => {
  fc.assert(fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (officeId) => {
    const tag = tagOf(keys.office(officeId));
    assert(tag !== undefined);
    assertEquals(tagOf(keys.officeChannel(officeId)), tag);
  }));
  for (const officeId of ["}", "{", "{}", "a}b{c"]) assert(tagOf(keys.office(officeId)) !== undefined);
});

Deno.test("no two offices share a key, and no office has the key of something else", () => {
  const id = fc.oneof(
    fc.string({ minLength: 1, unit: "grapheme" }),
    fc.constantFrom("lab", "lab}:news", "lab:seats", "%7D", "}"),
  );
  fc.assert(fc.property(id, id, (one, other) => {
    if (one !== other) assertNotEquals(keys.office(one), keys.office(other));
    for (const key of [keys.lease(one), keys.processChannel(one)]) {
      assertNotEquals(keys.office(other), key);
    }
  }));
});

Deno.test("a session is kept as a digest", () => {
  const idOf = (session: string) => toSeat(computer("laptop", { session }), "f").sessionId;
  assertEquals(idOf("secret")?.includes("secret"), false);
  assertNotEquals(idOf("a"), idOf("b"));
});
