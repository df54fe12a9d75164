/** Refusals in HTTP. */

/** A refusal with a JSON-RPC error as its body, which clients show. */
export function httpError(
  status: number,
  message: string,
  { headers = {}, code = -32000 }: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly code?: number;
  } = {},
): Response {
  const body = { jsonrpc: "2.0", id: null, error: { code, message } };
  return Response.json(body, { status, headers });
}
