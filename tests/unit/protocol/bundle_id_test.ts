import { assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { buildExposedName, bundleIdProblem, splitExposedName } from "../../../src/protocol/bundle_id.ts";

Deno.test("splitExposedName() finds the parts again where the identity is known, whatever they look like", () => {
  const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/).filter((id) => bundleIdProblem(id) === undefined);
  fc.assert(fc.property(ids, fc.string({ minLength: 1 }), (bundleId, tool) => {
    assertEquals(splitExposedName(buildExposedName(bundleId, tool), bundleId), { bundleId, tool });
  }));
});

Deno.test("splitExposedName() splits at the first separator where the identity is not known", () => {
  assertEquals(splitExposedName("files__read__all"), { bundleId: "files", tool: "read__all" });
  assertEquals(splitExposedName("read"), undefined);
  assertEquals(splitExposedName("__read"), undefined);
  assertEquals(splitExposedName("files__read", "shop"), { bundleId: "files", tool: "read" });
});
