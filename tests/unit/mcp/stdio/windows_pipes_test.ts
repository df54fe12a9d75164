import { assertEquals, assertRejects } from "@std/assert";
import { fstatSync } from "node:fs";
import { isRecord } from "../../../../src/json/json.ts";
import { ChildPipes } from "../../../../src/mcp/stdio/windows_pipes.ts";
import { isWindows } from "../../../fixtures/system.ts";

/** Those of the first 100 file descriptors of this process that are open. */
function openDescriptors(): number[] {
  return Array.from({ length: 100 }, (_, index) => index).filter((descriptor) => {
    try {
      return fstatSync(descriptor);
    } catch (error) {
      return isRecord(error) && error["code"] !== "EBADF";
    }
  });
}

Deno.test({
  name: "the first pipe of a child is closed when the second one cannot be opened",
  ignore: !isWindows,
  async fn() {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    // The children that Deno's threads read.
    for (let each = 2; each < 2 * navigator.hardwareConcurrency; each++) await ChildPipes.open(over);
    const before = openDescriptors();
    const { randomUUID } = crypto;
    // For the name and the proof of the first pipe, then for a name that cannot be opened.
    const ends = ["", "", "\0"].values();
    crypto.randomUUID = () => `${randomUUID.call(crypto)}${ends.next().value}` as const;
    try {
      await assertRejects(() => ChildPipes.open(over), TypeError, "null bytes");
      assertEquals(openDescriptors(), before);
    } finally {
      crypto.randomUUID = randomUUID;
      resolve();
    }
  },
});
