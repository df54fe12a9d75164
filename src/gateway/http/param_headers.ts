/** Arguments that MCP of 2026 repeats in headers (`x-mcp-header` in a tool's schema): both must say the same. */
import type { Json } from "../../agent/toolkit/mcp.ts";
import { isRecord } from "../../json/json.ts";
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { toSeenName } from "../../text/safe_text.ts";

/** The code of the error for a header that says something else than the body. */
const PREFIX = "mcp-param-";
/** What the name of a header may have. No client can send another one, and to look for it is an error. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_DEPTH = 16;

interface RepeatedArgument {
  readonly header: string;
  readonly path: readonly string[];
}

/** Schemas are searched once. */
const known = new WeakMap<object, readonly RepeatedArgument[]>();

/** The refusal of a call whose headers and arguments differ; `undefined` when they agree. */
export function refuseParamHeaders(
  inputSchema: Json,
  message: unknown,
  headers: Headers,
): Response | undefined {
  const params = isRecord(message) ? message["params"] : undefined;
  const args = isRecord(params) ? params["arguments"] : undefined;
  for (const { header, path } of repeatedArguments(inputSchema)) {
    const wanted = textOf(valueAt(args, path));
    if (wanted === undefined) continue;
    const problem = headerProblem(headers.get(header), wanted);
    if (problem === undefined) continue;
    const error = {
      code: RpcErrorCode.HEADER_MISMATCH,
      message: `Cannot call the tool: the header ${header} ${problem} the argument ${
        toSeenName(path.join("."))
      }`,
    };
    const id = isRecord(message) ? message["id"] : null;
    return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
  }
  return undefined;
}

function headerProblem(value: string | null, wanted: string): string | undefined {
  if (value === null) return "is missing, which repeats";
  const decoded = decode(value);
  if (decoded === undefined) return "is no valid Base64, and repeats";
  return decoded === wanted || isSameNumber(decoded, wanted) ? undefined : "says something else than";
}

function isSameNumber(one: string, other: string): boolean {
  const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text);
  return isNumber(one) && isNumber(other) && Number(one) === Number(other);
}

/** A value that a header cannot hold comes as `=?base64?…?=`. */
function decode(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (encoded === undefined) return value;
  try {
    const binary = atob(encoded);
    // Only the canonical spelling counts; `atob` also takes text without its padding.
    if (btoa(binary) !== encoded) return undefined;
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => isRecord(inner) ? inner[name] : undefined, value);
}

function repeatedArguments(inputSchema: Json): readonly RepeatedArgument[] {
  const found = known.get(inputSchema) ?? findRepeated(inputSchema, []);
  known.set(inputSchema, found);
  return found;
}

function findRepeated({ properties }: Json, path: readonly string[]): RepeatedArgument[] {
  if (!isRecord(properties) || path.length >= MAX_DEPTH) return [];
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (!isRecord(schema)) return [];
    const inner = [...path, name];
    const header = schema["x-mcp-header"];
    const own = typeof header === "string" && TOKEN.test(header)
      ? [{ header: `${PREFIX}${header}`, path: inner }]
      : [];
    return [...own, ...findRepeated(schema, inner)];
  });
}
