/** The lists of members in `docs/configuration.md`, made from the schema of a configuration. */
import { isRecord } from "../src/json/json.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * The sections of the page, each with the definition or the nested member that it shows, without what `besides` lists
 * in the same words.
 */
const SECTIONS: readonly (readonly [title: string, definition: string, member?: string, besides?: string])[] =
  [
    ["Every server", "MCPServerStdioConfig"],
    ["Servers of type `stdio`: `server_parameters`", "MCPServerStdioConfig", "server_parameters"],
    ["Servers of type `stdio`: `sandbox`", "SandboxSettings"],
    [
      "Servers of type `streamable`: `server_parameters`",
      "MCPServerStreamableHttpConfig",
      "server_parameters",
    ],
    ["Servers of type `sse`: `server_parameters`", "MCPSSEConfig", "server_parameters"],
    ["Sign-in: `oauth`", "OAuthSettings"],
    ["Sign-in: `identityProvider`", "IdentityProviderSettings"],
    ["Tool metadata", "ToolMeta"],
    ["Limits of the Computer: `limits`", "Limits"],
    ["Inputs of type `promptString`", "MCPServerPromptStringInput"],
    [
      "Inputs of type `pickString`, besides `id`, `description` and `default`",
      "MCPServerPickStringInput",
      undefined,
      "MCPServerPromptStringInput",
    ],
    [
      "Inputs of type `command`, besides `id` and `description`",
      "MCPServerCommandInput",
      undefined,
      "MCPServerPromptStringInput",
    ],
    ["Entries of `mcpServers` that start a program", "FlatStdioServer"],
    [
      "Entries of `mcpServers` on the network, in place of `type` and all from `command` on",
      "FlatHttpServer",
      undefined,
      "FlatStdioServer",
    ],
  ];
const BEGIN = "<!-- reference: written by `deno task schema` -->";
const END = "<!-- /reference -->";

/** The page with its lists written anew. */
export function withReference(page: string, schema: Schema): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new TypeError(`Cannot write the reference: no "${BEGIN}" … "${END}"`);
  const lists = SECTIONS.map(([title, definition, member, besides]) => {
    const told = besides === undefined ? [] : linesOf(definitionAt(schema, besides));
    const lines = linesOf(definitionAt(schema, definition, member)).filter((line) => !told.includes(line));
    return `### ${title}\n\n${lines.join("\n")}`;
  });
  return `${page.slice(0, begin)}${BEGIN}\n\n${lists.join("\n\n")}\n\n${page.slice(end)}`;
}

function definitionAt(schema: Schema, name: string, member?: string): Schema {
  const definition = recordAt(recordAt(schema, "definitions"), name);
  return member === undefined ? definition : recordAt(recordAt(definition, "properties"), member);
}

function linesOf(definition: Schema): string[] {
  const required = Array.isArray(definition["required"]) ? definition["required"] : [];
  return Object.entries(recordAt(definition, "properties")).map(([name, value]) => {
    const property = isRecord(value) ? value : {};
    const field = required.includes(name) ? `**\`${name}\`**` : `\`${name}\``;
    const remarks = [typeOf(property), defaultOf(property)].filter((part) => part !== "").join(", ");
    return `- ${field}${remarks === "" ? "" : ` (${remarks})`}: ${property["description"] ?? ""}`;
  });
}

/** The JSON type in one word or a few; what stands for a placeholder is left out. */
function typeOf(schema: Schema): string {
  if ("const" in schema) return `\`${JSON.stringify(schema["const"])}\``;
  if (Array.isArray(schema["enum"])) {
    return schema["enum"].map((each) => `\`${JSON.stringify(each)}\``).join(", ");
  }
  if (Array.isArray(schema["anyOf"])) {
    const kinds = schema["anyOf"].filter(isRecord).filter((each) => !("pattern" in each)).map(typeOf);
    return [...new Set(kinds)].filter((kind) => kind !== "").join(" or ");
  }
  if (typeof schema["$ref"] === "string") return "object";
  if (schema["type"] === "array" && isRecord(schema["items"])) return `list of ${typeOf(schema["items"])}`;
  const types = [schema["type"]].flat().filter((type) => typeof type === "string" && type !== "null");
  return types.join(" or ");
}

function defaultOf(schema: Schema): string {
  const value = schema["default"];
  return value === undefined || value === null ? "" : `default \`${JSON.stringify(value)}\``;
}

function recordAt(schema: Schema, key: string): Schema {
  const value = schema[key];
  if (!isRecord(value)) throw new TypeError(`Cannot write the reference: "${key}" is not an object`);
  return value;
}
