import { assertEquals } from "@std/assert";
import { Releases } from "../../../src/async/releases.ts";

Deno.test("what is freed together is freed once, the last first, where it was moved to", () => {
  const freed: string[] = [];
  const releases = new Releases();
  releases.defer(() => void freed.push("first"));
  releases.use({ [Symbol.dispose]: () => void freed.push("second") });
  const moved = releases.move();
  releases[Symbol.dispose]();
  assertEquals(freed, []);
  moved[Symbol.dispose]();
  moved[Symbol.dispose]();
  assertEquals(freed, ["second", "first"]);
});
