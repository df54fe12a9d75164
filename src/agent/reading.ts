/** Reads resources of MCP servers, and documents, pages and elements among them. */
import { parseGetDeskTopRet, parseReadResourceRet } from "../protocol/answers.ts";
import { parseDesktopEntry } from "../protocol/desktop.ts";
import type { DPEDocument, DPEDocumentPages, DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError, UnsupportedRequestError } from "../protocol/errors.ts";
import { GET_DESKTOP_EVENT, READ_RESOURCE_EVENT } from "../protocol/events.ts";
import type { ReadResourceRet } from "../protocol/resources.ts";
import { windowIdentity } from "../uri/window_uri.ts";
import { fillContents } from "./blobs.ts";
import * as documents from "./documents.ts";
import type { ReadResourceOptions } from "./remote_options.ts";
import type { RequestOptions, Requests } from "./requests.ts";

export async function readResource(
  requests: Requests,
  uri: string,
  { mcpServer, ...options }: ReadResourceOptions,
): Promise<ReadResourceRet> {
  const asked = { ...options, parse: parseReadResourceRet };
  try {
    const result = await requests.ask(READ_RESOURCE_EVENT, { uri, mcp_server: mcpServer }, asked);
    return await requests.fill((filling) => fillContents(result, filling), options);
  } catch (error) {
    const identity = error instanceof UnsupportedRequestError ? windowIdentity(uri) : undefined;
    if (identity === undefined) throw error;
    return await readWindow(requests, uri, { ...options, identity });
  }
}

/** Reads a window as every Computer shows it. */
async function readWindow(
  requests: Requests,
  uri: string,
  { identity, ...options }: RequestOptions & { readonly identity: string },
): Promise<ReadResourceRet> {
  const asked = { ...options, parse: parseGetDeskTopRet };
  const { desktops = [] } = await requests.ask(GET_DESKTOP_EVENT, { window: uri }, asked);
  const window = desktops.map(parseDesktopEntry).find((entry) => windowIdentity(entry.uri) === identity);
  if (window !== undefined) return { contents: [{ uri, text: window.text }] };
  throw new SmcpError(ErrorCode.NOT_FOUND, `Resource not found: no window "${uri}"`, { details: { uri } });
}

export async function readDocumentMetadata(
  requests: Requests,
  uri: string,
  options: ReadResourceOptions,
): Promise<DPEDocument> {
  return documents.readDocument(await readAt(requests, documents.documentUri(uri), options));
}

export async function readDocumentPages(
  requests: Requests,
  uri: string,
  { offset, limit, ...options }: ReadResourceOptions & documents.PageIndexOptions,
): Promise<DPEDocumentPages> {
  const pages = documents.documentPagesUri(uri, { offset, limit });
  return documents.readDocumentPages(await readAt(requests, pages, options));
}

export async function readPage(
  requests: Requests,
  uri: string,
  { pageIndex, format, categories, ...options }:
    & ReadResourceOptions
    & documents.PageOptions
    & { readonly pageIndex: number },
): Promise<DPEPage> {
  const page = documents.pageUri(uri, pageIndex, { format, categories });
  return documents.readPage({ ...await readAt(requests, page, options), format });
}

export async function readElement(
  requests: Requests,
  uri: string,
  { elementId, format, ...options }:
    & ReadResourceOptions
    & documents.FormatOptions
    & { readonly elementId: string },
): Promise<DPEElementDetail> {
  const element = documents.elementUri(uri, elementId, { format });
  return documents.readElement({ ...await readAt(requests, element, options), format });
}

async function readAt(
  requests: Requests,
  uri: string,
  options: ReadResourceOptions,
): Promise<documents.DocumentAnswer> {
  return {
    uri,
    result: await readResource(requests, uri, options),
    onFlaws: (fields) => requests.warn("document has flaws", { uri, ...fields }),
  };
}
