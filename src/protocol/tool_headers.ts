/**
 * Arguments that go into HTTP headers as well. Since 2026-07-28, a tool may mark parameters with `x-mcp-header`, so that
 * proxies on the way can route a call by them: the client repeats such an argument as `Mcp-Param-NAME`, and the server
 * compares both.
 *
 * MCP specification: Streamable HTTP, "Custom headers from tool parameters".
 */
import { isRecord } from "../json/json.ts";
import { shorten } from "../text/text.ts";

/** The member of a schema that names the header. */
const MARK = "x-mcp-header";
/** What comes before the name in a header. */
const PREFIX = "Mcp-Param-";
/** A name of a header, according to RFC 9110. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A value that goes into a header as it is: visible ASCII, with spaces and tabs in between. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** A value that looks as if it were encoded already. */
const ENCODED = /^=\?base64\?(.*)\?=$/;
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
/** The most marked parameters of one tool: each may become a header of a call. */
const MAX_PARAMETERS = 64;
const MAX_DEPTH = 32;
const MAX_NAMED_LENGTH = 128;

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

/** The place of a parameter. Places share their parents: a path for each would grow with the square of the schema. */
interface Place {
  readonly name: string;
  readonly parent: Place | undefined;
  readonly depth: number;
}

/** A part of a schema; without a place when no parameter has a fixed one there. */
interface SchemaPart {
  readonly schema: unknown;
  readonly place: Place | "root" | undefined;
}

/** The marked parameters of the tools of one server. */
export class ToolHeaders {
  readonly #parametersByTool = new Map<string, readonly HeaderParameter[]>();

  /** Takes a listed tool in; `undefined` for one that may not be called, because a mark is wrong. */
  accept<Tool extends { readonly name: string; readonly inputSchema: unknown }>(
    tool: Tool,
    warn: (warning: string) => void,
  ): Tool | undefined {
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

  headersOf(call: { readonly name: string; readonly arguments: unknown }): Record<string, string> {
    return toParameterHeaders(this.#parametersByTool.get(call.name) ?? [], call.arguments);
  }
}

export function readHeaderParameters(inputSchema: unknown): HeaderParameters {
  const parameters: HeaderParameter[] = [];
  const names = new Set<string>();
  const parts: SchemaPart[] = [{ schema: inputSchema, place: "root" }];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const { schema, place } = part;
    if (!isRecord(schema)) continue;
    if (MARK in schema) {
      const found = readMark(schema, place, names);
      if ("flaw" in found) return found;
      names.add(found.name.toLowerCase());
      if (names.size > MAX_PARAMETERS) {
        return { flaw: `more than ${MAX_PARAMETERS} parameters have a header` };
      }
      parameters.push(found);
    }
    for (const inner of partsOf(schema, place)) parts.push(inner);
  }
  return { parameters };
}

function readMark(
  schema: Readonly<Record<string, unknown>>,
  place: SchemaPart["place"],
  names: ReadonlySet<string>,
): HeaderParameter | { readonly flaw: string } {
  const { [MARK]: name, type } = schema;
  if (place === undefined || place === "root") {
    return { flaw: `"${MARK}" stands where no parameter has a fixed place` };
  }
  if (typeof name !== "string" || !TOKEN.test(name)) return { flaw: `"${MARK}" is not a name of a header` };
  if (!MARKABLE.includes(type)) return { flaw: `"${MARK}" marks what is no string, integer or boolean` };
  if (names.has(name.toLowerCase())) return { flaw: `two parameters have the header "${name}"` };
  if (place.depth > MAX_DEPTH) return { flaw: `"${MARK}" stands more than ${MAX_DEPTH} levels deep` };
  return { path: toPath(place), name };
}

function toPath(place: Place): string[] {
  const path: string[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.parent) path.push(at.name);
  return path.reverse();
}

function* partsOf(
  schema: Readonly<Record<string, unknown>>,
  place: SchemaPart["place"],
): Generator<SchemaPart> {
  const { properties } = schema;
  for (const [name, inner] of isRecord(properties) ? Object.entries(properties) : []) {
    yield { schema: inner, place: place && placeIn(place, name) };
  }
  for (const member of SUBSCHEMAS) {
    const inner = schema[member];
    for (const each of Array.isArray(inner) ? inner : [inner]) yield { schema: each, place: undefined };
  }
  for (const member of SUBSCHEMAS_BY_NAME) {
    const named = schema[member];
    for (const inner of isRecord(named) ? Object.values(named) : []) {
      yield { schema: inner, place: undefined };
    }
  }
}

function placeIn(outer: Place | "root", name: string): Place {
  return outer === "root"
    ? { name, parent: undefined, depth: 1 }
    : { name, parent: outer, depth: outer.depth + 1 };
}

export interface HeaderArgument extends HeaderParameter {
  readonly text: string;
}

/** The marked arguments of a call, but those that are missing or `null`. */
export function readHeaderArguments(
  parameters: readonly HeaderParameter[],
  args: unknown,
): readonly HeaderArgument[] {
  return parameters.flatMap((parameter) => {
    const value = parameter.path.reduce<unknown>(
      (value, key) => isRecord(value) ? value[key] : undefined,
      args,
    );
    const hasText = typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value);
    return hasText ? [{ ...parameter, text: String(value) }] : [];
  });
}

/** The headers for the arguments of a call. */
export function toParameterHeaders(
  parameters: readonly HeaderParameter[],
  args: unknown,
): Record<string, string> {
  const pairs = readHeaderArguments(parameters, args).map(({ name, text }) =>
    [PREFIX + name, encodeHeaderValue(text)] as const
  );
  return Object.fromEntries(pairs);
}

/** A text as the value of a header: as it is, or in base64 when it would not arrive unchanged. */
export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${new TextEncoder().encode(text).toBase64()}?=`;
}

/** Reads the value of a header; `undefined` for Base64 that is not in its canonical spelling, or is no text. */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = ENCODED.exec(value)?.[1];
  if (encoded === undefined) return value;
  try {
    const binary = atob(encoded);
    // `atob` also takes text without its padding.
    if (btoa(binary) !== encoded) return undefined;
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
