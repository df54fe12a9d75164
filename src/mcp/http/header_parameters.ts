/**
 * Arguments that go into HTTP headers as well. Since 2026-07-28, a tool may mark parameters with `x-mcp-header`, so that
 * proxies on the way can route a call by them: the client repeats such an argument as `Mcp-Param-NAME`.
 *
 * MCP specification: Streamable HTTP, "Custom headers from tool parameters".
 */
import { isRecord } from "../../json.ts";
import { shorten } from "../../text.ts";
import type { EntryWarning, McpTool } from "../entries.ts";

/** The member of a schema that names the header. */
const MARK = "x-mcp-header";
/** What comes before the name in a header. */
const PREFIX = "Mcp-Param-";
/** A name of a header, according to RFC 9110. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A value that goes into a header as it is: visible ASCII, with spaces and tabs in between. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** A value that looks as if it were encoded already. */
const ENCODED = /^=\?base64\?.*\?=$/;
/** The types of parameters that may be marked. */
const MARKABLE: readonly unknown[] = ["string", "integer", "boolean"];
/** The members of a schema below which no parameter has a fixed place: subschemas, lists of them, and those by name. */
const SUBSCHEMAS = [
  "items",
  "prefixItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "oneOf",
  "anyOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
] as const;
const SUBSCHEMAS_BY_NAME = ["patternProperties", "dependentSchemas", "$defs", "definitions"] as const;
/** The length to which the name of a tool is cut in a warning. */
const MAX_NAMED_LENGTH = 128;

/** A parameter that goes into a header. */
export interface HeaderParameter {
  /** Where it stands in the arguments. */
  readonly path: readonly string[];
  /** The name of the header, without its prefix. */
  readonly name: string;
}

/** The marked parameters of a schema, or what is wrong with a mark. */
export type HeaderParameters =
  | { readonly parameters: readonly HeaderParameter[] }
  | { readonly flaw: string };

/** A part of a schema; without a path when no parameter has a fixed place there. */
interface SchemaPart {
  readonly schema: unknown;
  readonly path: readonly string[] | undefined;
}

/** The marked parameters of the tools of one server. */
export class ToolHeaders {
  readonly #parametersByTool = new Map<string, readonly HeaderParameter[]>();

  /** Takes a listed tool in; `undefined` for one that may not be called, because a mark is wrong. */
  accept(tool: McpTool, warn: EntryWarning): McpTool | undefined {
    const found = readHeaderParameters(tool.inputSchema);
    if ("flaw" in found) {
      warn(`left out tool "${shorten(tool.name, MAX_NAMED_LENGTH)}": ${found.flaw}`);
      this.#parametersByTool.delete(tool.name);
      return undefined;
    }
    if (found.parameters.length === 0) this.#parametersByTool.delete(tool.name);
    else this.#parametersByTool.set(tool.name, found.parameters);
    return tool;
  }

  /** The headers of a call. */
  headersOf(call: { readonly name: string; readonly arguments: unknown }): Record<string, string> {
    return toParameterHeaders(this.#parametersByTool.get(call.name) ?? [], call.arguments);
  }
}

/** Reads the marks of an input schema. */
export function readHeaderParameters(inputSchema: unknown): HeaderParameters {
  const parameters: HeaderParameter[] = [];
  const names = new Set<string>();
  const parts: SchemaPart[] = [{ schema: inputSchema, path: [] }];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const { schema, path } = part;
    if (!isRecord(schema)) continue;
    if (MARK in schema) {
      const name = schema[MARK];
      const flaw = flawOf(schema, path, names);
      if (flaw !== undefined || typeof name !== "string") return { flaw: flaw ?? `"${MARK}" is not a text` };
      names.add(name.toLowerCase());
      parameters.push({ path: path ?? [], name });
    }
    parts.push(...partsOf(schema, path));
  }
  return { parameters };
}

function flawOf(
  schema: Readonly<Record<string, unknown>>,
  path: SchemaPart["path"],
  names: ReadonlySet<string>,
): string | undefined {
  const { [MARK]: name, type } = schema;
  if (path === undefined || path.length === 0) return `"${MARK}" stands where no parameter has a fixed place`;
  if (typeof name !== "string" || !TOKEN.test(name)) return `"${MARK}" is not a name of a header`;
  if (!MARKABLE.includes(type)) return `"${MARK}" marks what is no string, integer or boolean`;
  return names.has(name.toLowerCase()) ? `two parameters have the header "${name}"` : undefined;
}

function partsOf(schema: Readonly<Record<string, unknown>>, path: SchemaPart["path"]): SchemaPart[] {
  const { properties } = schema;
  const named = isRecord(properties) ? Object.entries(properties) : [];
  const elsewhere = [
    ...SUBSCHEMAS.flatMap((member) => schema[member] ?? []),
    ...SUBSCHEMAS_BY_NAME.flatMap((member) => {
      const subschemas = schema[member];
      return isRecord(subschemas) ? Object.values(subschemas) : [];
    }),
  ];
  return [
    ...named.map(([name, schema]) => ({ schema, path: path && [...path, name] })),
    ...elsewhere.map((schema) => ({ schema, path: undefined })),
  ];
}

/** The headers for the arguments of a call; none for an argument that is missing or `null`. */
export function toParameterHeaders(
  parameters: readonly HeaderParameter[],
  args: unknown,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, name } of parameters) {
    const value = path.reduce<unknown>((value, key) => isRecord(value) ? value[key] : undefined, args);
    if (typeof value === "string") headers[PREFIX + name] = encodeHeaderValue(value);
    else if (typeof value === "boolean" || Number.isSafeInteger(value)) {
      headers[PREFIX + name] = String(value);
    }
  }
  return headers;
}

/** A text as the value of a header: as it is, or in base64 when it would not arrive unchanged. */
function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${new TextEncoder().encode(text).toBase64()}?=`;
}
