import { assertEquals, assertMatch } from "@std/assert";
import { argumentProblem, similarNames } from "../../../../src/gateway/search/search_tools.ts";
import { ToolIndex } from "../../../../src/gateway/search/tool_index.ts";
import { officeTool } from "./_tools.ts";

const problemOf = (schema: Record<string, unknown>, args: Record<string, unknown>) =>
  argumentProblem(officeTool("tool", "", { schema }).definition, args);

Deno.test("similarNames() forgives typing errors and missing separators", async () => {
  const tools = ["browser_click", "browser_close", "merge_pull_request", "kubectl_logs"]
    .map((name) => officeTool(name, "Does it"));
  const index = new ToolIndex();
  await index.update(new Map([["laptop", tools]]));
  for (
    const [wrong, right] of [
      ["browser_clik", "browser_click"],
      ["mergePullRequest", "merge_pull_request"],
      ["merge_request_pull", "merge_pull_request"],
      ["kubectllogs", "kubectl_logs"],
    ] as const
  ) assertEquals(similarNames(wrong, index, () => true)[0], right);
  assertEquals(similarNames("xyzzy", index, () => true), []);
  assertEquals(similarNames("kubectllogs", index, () => false), []);
});

Deno.test("argumentProblem() names what is missing, also a name that all objects inherit", () => {
  assertMatch(problemOf({ required: ["constructor"] }, {}) ?? "", /missing constructor/);
  assertEquals(problemOf({ required: ["constructor"] }, { constructor: 1 }), undefined);
});

Deno.test("argumentProblem() names unknown arguments only where the schema allows no others", () => {
  const properties = { path: {} };
  assertMatch(problemOf({ properties, additionalProperties: false }, { file: 1 }) ?? "", /unknown file/);
  assertEquals(problemOf({ properties }, { file: 1 }), undefined);
  const patternProperties = { "^f": {} };
  assertEquals(
    problemOf({ properties, patternProperties, additionalProperties: false }, { file: 1 }),
    undefined,
  );
});
