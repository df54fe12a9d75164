/** Refusals in HTTP. */

/** A refusal with a JSON-RPC error as its body, which clients show. */
export function httpError(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = { jsonrpc: "2.0", id: null, error: { code: -32000, message } };
  return Response.json(body, { status, headers });
}
