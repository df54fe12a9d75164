import { assertEquals } from "@std/assert";
import fc from "../../../fixtures/fast_check.ts";
import { fairShare } from "../../../../src/computer/office/list_answer.ts";

Deno.test("fairShare() takes from the largest alone, and uses all the room that there is", () => {
  assertEquals(fairShare([10, 20, 30], 60), Infinity);
  assertEquals(fairShare([10, 20, 300], 60), 30);
  assertEquals(fairShare([10, 200, 300], 60), 25);
  assertEquals(fairShare([100, 200, 300], 60), 20);
  assertEquals(fairShare([], 60), Infinity);
  fc.assert(fc.property(fc.array(fc.nat(1_000)), fc.nat(5_000), (sizes, room) => {
    const share = fairShare(sizes, room);
    const taken = sizes.reduce((sum, size) => sum + Math.min(size, share), 0);
    assertEquals(Math.round(taken), Math.min(room, sizes.reduce((sum, size) => sum + size, 0)));
  }));
});
