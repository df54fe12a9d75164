/** Reads resources of MCP servers and windows, also from Computers that know fewer requests. */
import { parseGetDeskTopRet, parseGetWindowsRet, parseReadResourceRet } from "../protocol/answers.ts";
import { DEFAULT_TIMEOUT_SECONDS } from "../protocol/call.ts";
import { type DesktopEntry, parseDesktopEntry, toDesktopEntry } from "../protocol/desktop.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError, UnsupportedRequestError } from "../protocol/errors.ts";
import { GET_DESKTOP_EVENT, GET_WINDOWS_EVENT, READ_RESOURCE_EVENT } from "../protocol/events.ts";
import type { ReadResourceRet } from "../protocol/resources.ts";
import { windowIdentity } from "../uri/window_uri.ts";
import { fillContents } from "./blobs.ts";
import { EXTENSION_TIMEOUT_MS } from "./computer_facts.ts";
import type { DesktopOptions, ReadResourceOptions } from "./remote_options.ts";
import { isNotServed, type RequestOptions, type Requests } from "./requests.ts";

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

/** Reads the windows with their titles and MCP servers; `undefined` when the Computer does not tell them. */
export async function readWindows(
  requests: Requests,
  { size, window, timeoutMs = DEFAULT_TIMEOUT_SECONDS * 1000, ...options }: DesktopOptions,
): Promise<DesktopEntry[] | undefined> {
  const limits = { ...options, timeoutMs: Math.min(timeoutMs, EXTENSION_TIMEOUT_MS) };
  const asked = { ...limits, parse: parseGetWindowsRet };
  try {
    const { windows } = await requests.ask(GET_WINDOWS_EVENT, { desktop_size: size, window }, asked);
    return windows.map(toDesktopEntry);
  } catch (error) {
    if (isNotServed(error)) return undefined;
    throw error;
  }
}
