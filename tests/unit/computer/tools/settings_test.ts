import { assertEquals } from "@std/assert";
import { aliasOf, isForbidden, toolMetaOf, vrlScriptOf } from "../../../../src/computer/tools/settings.ts";
import { serverTools } from "./_server_tools.ts";

/** A server's configuration. */
function configOf(settings: Record<string, unknown>) {
  return serverTools("s", [], settings).server.config;
}

// proves: data-config-tool-meta, data-config-default-meta, data-ret-object-mapper
Deno.test("a tool's own metadata goes over the default key by key, and null does not override", () => {
  const config = configOf({
    default_tool_meta: { auto_apply: true, tags: ["a"], ret_object_mapper: { x: "y" }, own: 1 },
    tool_meta: { t: { auto_apply: null, tags: ["b"], alias: "u" }, off: { auto_apply: false } },
  });
  const shared = { ret_object_mapper: { x: "y" }, own: 1 } as const;
  assertEquals(toolMetaOf(config, "t"), { auto_apply: true, alias: "u", tags: ["b"], ...shared });
  assertEquals(toolMetaOf(config, "off"), { auto_apply: false, alias: null, tags: ["a"], ...shared });
  assertEquals(toolMetaOf(config, "other"), { auto_apply: true, alias: null, tags: ["a"], ...shared });
  assertEquals(toolMetaOf(configOf({}), "t"), undefined);
});

Deno.test("where tools are allowed by name, all others are forbidden, and a forbidden one stays so", () => {
  const tools = ["read", "read_all", "list_files", "list", "delete"];
  const allowed = (allowed_tools: unknown, forbidden_tools: string[] = []) => {
    const config = configOf({ allowed_tools, forbidden_tools });
    return tools.filter((tool) => !isForbidden(config, tool));
  };
  assertEquals(allowed(["read", "list_*", "absent"]), ["read", "list_files"]);
  assertEquals(allowed(["read*", "*e*"], ["read_all"]), ["read", "list_files", "delete"]);
  assertEquals([allowed([]), allowed(null), allowed(["*"])], [[], tools, tools]);
  assertEquals(allowed(["l*s*s", "lis*ist"]), ["list_files"]);
});

Deno.test("a tool named like an inherited member of objects has only its configured metadata", () => {
  const config = configOf({ tool_meta: { constructor: { alias: "build" } } });
  assertEquals([toolMetaOf(config, "toString"), toolMetaOf(config, "__proto__")], [undefined, undefined]);
  assertEquals([aliasOf(config, "constructor"), aliasOf(config, "toString")], ["build", undefined]);
});

Deno.test("a blank VRL script counts as no script", () => {
  assertEquals(vrlScriptOf(configOf({ vrl: ".a = 1" })), ".a = 1");
  assertEquals([vrlScriptOf(configOf({ vrl: " \n" })), vrlScriptOf(configOf({}))], [undefined, undefined]);
});
