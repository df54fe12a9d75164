/** One request to the hub's own paths and its answer, over `node:http`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBoundedText } from "../text/bounded_text.ts";
import type { Page } from "./page.ts";

const MAX_BODY_BYTES = 64 * 1024;

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The address of the client, as the connection or a trusted proxy says. */
  readonly address: string | undefined;
}

export function sendPage({ request, response }: Exchange, { status, headers, html }: Page): void {
  response.writeHead(status, { ...headers, "content-length": String(new TextEncoder().encode(html).length) });
  response.end(request.method === "HEAD" ? undefined : html);
}

export function sendJson(
  { response }: Pick<Exchange, "response">,
  status: number,
  { body, headers = {} }: { readonly body: unknown; readonly headers?: Readonly<Record<string, string>> },
): void {
  const common = { "content-type": "application/json", "cache-control": "no-store" };
  response.writeHead(status, { ...common, ...headers });
  response.end(JSON.stringify(body));
}

/** The body of a request; `undefined` when it is too large, or cut off. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  try {
    return await readBoundedText(ReadableStream.from(request), { maxBytes: MAX_BODY_BYTES });
  } catch {
    return undefined;
  }
}

/** The fields of a form; `undefined` for another body. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const [type = ""] = (request.headers["content-type"] ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded") return undefined;
  const text = await readBody(request);
  return text === undefined ? undefined : new URLSearchParams(text);
}

/** Whether a form was sent by a page of another origin. Browsers name the origin of every form. */
export function originProblem({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return true;
  return headers.origin !== undefined && headers.origin !== publicUrl;
}

/** Whether a client has gone, or speaks no HTTP. Strangers decide how often that happens. */
export function isOfConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(?:ECONNRESET|EPIPE|HPE_)/.test(String(error.code));
}
