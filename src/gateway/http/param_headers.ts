/** Arguments that MCP of 2026 repeats in headers (`x-mcp-header` in a tool's schema): both must say the same. */
import type { AskedHeaders } from "../../http/headers.ts";
import type { Json } from "../../local_tools/mcp.ts";
import { isRecord } from "../../json/json.ts";
import { RpcErrorCode } from "../../protocol/mcp.ts";
import {
  decodeHeaderValue,
  type HeaderParameters,
  readHeaderArguments,
  readHeaderParameters,
} from "../../protocol/tool_headers.ts";
import { toSeenName } from "../../text/safe_text.ts";

/** Schemas are searched once. */
const known = new WeakMap<object, HeaderParameters>();

/**
 * The refusal of a call whose headers and arguments differ; `undefined` when they agree, and for a schema with a wrong mark,
 * whose marks no client heeds.
 */
export function refuseParamHeaders(
  inputSchema: Json,
  message: unknown,
  headers: AskedHeaders,
): Response | undefined {
  const params = isRecord(message) ? message["params"] : undefined;
  const args = isRecord(params) ? params["arguments"] : undefined;
  const found = known.get(inputSchema) ?? readHeaderParameters(inputSchema);
  known.set(inputSchema, found);
  for (const { path, name, text } of "flaw" in found ? [] : readHeaderArguments(found.parameters, args)) {
    const header = `mcp-param-${name}`;
    const problem = headerProblem(headers.get(header), text);
    if (problem === undefined) continue;
    const argument = toSeenName(path.join("."));
    const error = {
      code: RpcErrorCode.HEADER_MISMATCH,
      message: `Cannot call the tool: the header ${header} ${problem} the argument ${argument}`,
    };
    const id = isRecord(message) ? message["id"] : null;
    return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
  }
  return undefined;
}

function headerProblem(value: string | null, wanted: string): string | undefined {
  if (value === null) return "is missing, which repeats";
  const decoded = decodeHeaderValue(value);
  if (decoded === undefined) return "is no valid Base64, and repeats";
  return decoded === wanted || isSameNumber(decoded, wanted) ? undefined : "says something else than";
}

function isSameNumber(one: string, other: string): boolean {
  const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text);
  return isNumber(one) && isNumber(other) && Number(one) === Number(other);
}
