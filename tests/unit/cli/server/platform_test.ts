import { assertEquals, assertStringIncludes } from "@std/assert";
import { platformWarning } from "../../../../src/cli/server/run.ts";

const deploy = (name: string) => ({ DENO_DEPLOYMENT_ID: "x8k2" })[name];

Deno.test("platformWarning() says on Deno Deploy that offices live in one instance", () => {
  assertStringIncludes(platformWarning(deploy, { isClustered: false }) ?? "", "--redis");
});

Deno.test("platformWarning() is silent with shared offices, and on other platforms", () => {
  assertEquals(platformWarning(deploy, { isClustered: true }), undefined);
  assertEquals(platformWarning(() => undefined, { isClustered: false }), undefined);
});
