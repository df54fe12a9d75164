import { assertEquals } from "@std/assert";
import { Ajv } from "ajv";
import schema from "../../../config.schema.json" with { type: "json" };
import { parseConfigText } from "../../../src/config/config.ts";
import { readConfigText } from "../../../src/config/text.ts";

const root = new URL("../../../", import.meta.url);
const folder = new URL("tests/fixtures/configs/", root);
// Editors know keywords of their own.
const isValid = new Ajv({ strict: false, allErrors: true }).compile(schema);

/** What the schema has against a configuration. */
function complaints(config: unknown): string[] {
  return isValid(config)
    ? []
    : (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

Deno.test("the schema accepts the file of each supported program", () => {
  const files = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name);
  assertEquals(files.length >= 10, true);
  for (const file of files) {
    const { value } = readConfigText(Deno.readTextFileSync(new URL(file, folder)));
    assertEquals(complaints(value), [], file);
  }
});

Deno.test("the schema accepts the configurations in the documentation", () => {
  const pages = ["README.md", "docs/configuration.md", "docs/sign-in.md"].map((page) =>
    Deno.readTextFileSync(new URL(page, root))
  ).join("\n");
  const blocks = [...pages.matchAll(/```jsonc?\n(.*?)```/gs)].map(([, text = ""]) => text);
  const configs = blocks.filter((text) => /"(?:servers|mcpServers)"/.test(text));
  assertEquals(configs.length > 0, true);
  for (const text of configs) {
    parseConfigText(text, "example", { origin: { workspace: "/w", home: "/h", cwd: "/c" } });
    assertEquals(complaints(readConfigText(text).value), [], text);
  }
});

Deno.test("the schema refuses the configurations that the Computer refuses", () => {
  const own = { type: "stdio", server_parameters: { command: "x" } };
  const broken: unknown[] = [
    [],
    {},
    { servers: 1 },
    { servers: {}, mcpServers: {} },
    { servers: { a: 7 } },
    { servers: { a: {} } },
    { servers: [own] },
    { servers: { a: { type: "carrier-pigeon", command: "x" } } },
    { servers: { a: { type: "stdio", server_parameters: {} } } },
    { servers: { a: { ...own, disabled: "yes" } } },
    { servers: { a: { ...own, tool_meta: { t: { tags: "x" } } } } },
    { servers: { a: { type: "sse", server_parameters: { url: "http://x", timeout: "5" } } } },
    { servers: { a: { type: "sse", server_parameters: { url: "http://x", timeout: -1 } } } },
    {
      servers: { a: { type: "stdio", server_parameters: { command: "x", encoding_error_handler: "panic" } } },
    },
    { mcpServers: { a: { command: "x", args: "y" } } },
    { mcpServers: { a: { type: "http" } } },
    { servers: {}, inputs: {} },
    { servers: {}, inputs: [{ id: "a" }] },
    { servers: {}, inputs: [{ id: "a", type: "pickString", options: [] }] },
  ];
  for (const config of broken) {
    assertEquals(complaints(config).length > 0, true, JSON.stringify(config));
    let isRefused = false;
    try {
      parseConfigText(JSON.stringify(config), "c");
    } catch {
      isRefused = true;
    }
    assertEquals(isRefused, true, JSON.stringify(config));
  }
});

Deno.test("the schema describes every member of a server and of an input", () => {
  for (const [name, definition] of Object.entries(schema.definitions)) {
    if (!("properties" in definition)) continue;
    for (const [key, property] of Object.entries(definition.properties)) {
      assertEquals("description" in property && property.description !== "", true, `${name}.${key}`);
    }
  }
});
