import { assertEquals } from "@std/assert";
import { viewTools } from "../../../../src/computer/tools/directory.ts";
import { nameTools, otherNamesOf, type ServerTools } from "../../../../src/computer/tools/names.ts";
import { officeRulesOf } from "../../../../src/computer/shared/office_rules.ts";
import type { ProtocolMinor } from "../../../../src/protocol/version.ts";
import { serverTools } from "./_server_tools.ts";

/** What the tools are called from protocol 0.3 on. */
function exposed(...servers: ServerTools[]): string[] {
  return nameTools(servers, { hasBundleIds: true }).named.map(({ name }) => name);
}

/** What a tool shows as `a2c_tool_meta`. */
function shownMeta(protocol: ProtocolMinor, declared: unknown, settings: Record<string, unknown> = {}) {
  const tool = { name: "t", inputSchema: { type: "object" }, _meta: { a2c_tool_meta: declared } };
  const view = viewTools([serverTools("s", [tool], settings)], { rules: officeRulesOf(protocol) });
  const meta = view.tools[0]?.meta?.["a2c_tool_meta"];
  return { meta: typeof meta === "string" ? JSON.parse(meta) : meta, warnings: view.warnings };
}

const unset = { auto_apply: null, alias: null, tags: null, ret_object_mapper: null };

Deno.test("every tool is called by the identity of its server and its alias or own name", () => {
  const settings = { tool_meta: { old: { alias: "new" } } };
  assertEquals(exposed(serverTools("a", ["x", "old"], settings), serverTools("b", ["x"])), [
    "a__x",
    "a__new",
    "b__x",
  ]);
});

Deno.test("a name that two tools would have belongs to the first, and the other is left out with a warning", () => {
  const servers = [serverTools("a_", ["x"]), serverTools("a", ["_x", "y"])];
  assertEquals(exposed(...servers), ["a___x", "a__y"]);
  assertEquals(nameTools(servers, { hasBundleIds: true }).warnings, [
    'server "a": tools are left out because their names are taken: "a___x"',
  ]);
});

Deno.test("forbidden_tools may name a tool by its own name, its alias or its exposed name", () => {
  for (const spelling of ["own", "alias", "s__alias"]) {
    const settings = { tool_meta: { own: { alias: "alias" } }, forbidden_tools: [spelling] };
    const names = nameTools([serverTools("s", ["own", "other"], settings)], { hasBundleIds: true });
    assertEquals([names.named.map(({ name }) => name), [...names.forbidden]], [["s__other"], ["s__alias"]]);
  }
});

Deno.test("allowed_tools are patterns of the names that the server gives, never of the exposed ones", () => {
  const settings = { allowed_tools: ["git_*"] };
  assertEquals(exposed(serverTools("git", ["git_log", "status"], settings)), ["git__git_log"]);
});

Deno.test("otherNamesOf() finds the exposed name of a bare one and of a bare alias", () => {
  const settings = { tool_meta: { own: { alias: "alias" } } };
  const { named } = nameTools([serverTools("s", ["own", "x"], settings)], { hasBundleIds: true });
  assertEquals(otherNamesOf("x", named), ["s__x"]);
  assertEquals(otherNamesOf("alias", named), ["s__alias"]);
  assertEquals(otherNamesOf("own", named), ["s__alias"]);
  assertEquals(otherNamesOf("s__own", named), ["s__alias"]);
});

Deno.test("tools name their server by bundle_id from 0.3 on, and not before", () => {
  const idOf = (protocol: ProtocolMinor) =>
    viewTools([serverTools("s", ["x"])], { rules: officeRulesOf(protocol) }).tools[0]?.bundle_id;
  assertEquals([idOf("0.2"), idOf("0.3"), idOf("0.4")], [undefined, "s", "s"]);
});

Deno.test("tags that a server declares are listed from 0.4 on, and those of the configuration override them", () => {
  const declared = { tags: ["db"], auto_apply: true, alias: "x" };
  assertEquals(shownMeta("0.4", declared), { meta: { ...unset, tags: ["db"] }, warnings: [] });
  assertEquals(shownMeta("0.4", {}), { meta: unset, warnings: [] });
  assertEquals(shownMeta("0.4", declared, { tool_meta: { t: { tags: [] } } }).meta, { ...unset, tags: [] });
  const configured = shownMeta("0.4", declared, { default_tool_meta: { auto_apply: true } }).meta;
  assertEquals(configured, { ...unset, auto_apply: true, tags: ["db"] });
  assertEquals(shownMeta("0.3", declared), { meta: undefined, warnings: [] });
});

Deno.test("a declaration of another form is ignored with one warning for its server", () => {
  for (const declared of [null, "x", ["db"], { tags: "db" }, { tags: [1] }]) {
    const { meta, warnings } = shownMeta("0.4", declared, { tool_meta: { t: { tags: ["own"] } } });
    assertEquals([meta, warnings.length], [{ ...unset, tags: ["own"] }, 1]);
  }
});
