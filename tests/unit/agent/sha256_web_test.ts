import { assertEquals } from "@std/assert";
import { startSha256 } from "../../../src/agent/sha256.ts";
import { startSha256 as startWebSha256 } from "../../../src/agent/sha256_web.ts";

Deno.test("a browser computes the same SHA-256, however the bytes are cut", () => {
  const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => index % 251);
  for (const cuts of [[], [0], [1, 63, 64, 65], [500, 500, 999]]) {
    const hashes = [startSha256(), startWebSha256()];
    for (const hash of hashes) {
      [0, ...cuts].forEach((start, index) => hash.update(bytes.subarray(start, cuts[index])));
    }
    const [expected, found] = hashes.map((hash) => hash.toHex());
    assertEquals(found, expected);
  }
});
