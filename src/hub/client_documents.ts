/** The metadata documents of clients, which stand at their ids and take the place of a registration. */
import { isRecord, parseJson } from "../json/json.ts";
import { readBoundedText } from "../text/bounded_text.ts";
import { type Clients, fullMetadata, parseClientMetadata } from "./clients.ts";

export const MAX_DOCUMENT_BYTES = 32 * 1024;

/**
 * A document in the form of a registration: what a client asks for beyond that, it does not get. Where its host does not answer,
 * the client of a grant is the one that it was.
 */
export async function readClientDocument(
  url: string,
  { fetchDocument, clients }: {
    readonly fetchDocument: (url: URL) => Promise<Response>;
    readonly clients: Pick<Clients, "find" | "keepDocument">;
  },
): Promise<Response> {
  const { document, cacheControl } = await fetchJson(url, fetchDocument).catch((error) => {
    const document = clients.find(url);
    if (document === undefined) throw error;
    return { document, cacheControl: null };
  });
  if (!isRecord(document)) throw new TypeError("Cannot read the metadata of the client: no JSON object");
  const metadata = parseClientMetadata(document);
  const id = String(document["client_id"]);
  if (id === url) clients.keepDocument(id, metadata);
  const headers = cacheControl === null ? undefined : { "cache-control": cacheControl };
  return Response.json(fullMetadata(id, metadata), { headers });
}

async function fetchJson(
  url: string,
  fetchDocument: (url: URL) => Promise<Response>,
): Promise<{ readonly document: unknown; readonly cacheControl: string | null }> {
  const { status, body, headers } = await fetchDocument(new URL(url));
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new TypeError(`Cannot read the metadata of the client: its host answers ${status}`);
  }
  const text = await readBoundedText(body, { maxBytes: MAX_DOCUMENT_BYTES });
  return { document: parseJson(text ?? ""), cacheControl: headers.get("cache-control") };
}
