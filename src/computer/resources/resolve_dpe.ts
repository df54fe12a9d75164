/** `client:get_dpe`: turns a document's URI into an address from which the Agent fetches the document itself. */
import { resolve } from "@std/path";
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { DpeResource, GetDpeReq } from "../../protocol/resources.ts";
import type { FileResolverOptions, ResolveDpe } from "./file_resolver.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { isValidDpeUri } from "../../uri/dpe_uri.ts";
import { readResource } from "./read.ts";
import type { ResourceRoutes } from "./route.ts";

/**
 * Makes a resolver that writes a document's JSON into a file and returns its `file://` URI. The JSON is the metadata of
 * Level 1 with all pages as Level 2 returns them. Use it for an Agent that can read the same files, for example on the
 * same machine.
 *
 * A file is replaced as a whole, so that a reader never sees half of it, and only when its content differs. `etag` is
 * the SHA-256 of the file in hexadecimal. A URI of a page or an element resolves to its document. The file name is made
 * from the host and the document's key, and always stays in the folder. Files are never removed.
 *
 * The program needs `--allow-read` and `--allow-write` for the folder.
 *
 * @param options the folder, and bounds that differ from the defaults
 * @returns the value for the option `resolveDpe` of a Computer
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { fileResolver } from "@a2c-smcp/sdk/computer";
 *
 * const directory = await Deno.makeTempDir();
 * const uri = "dpe://docs/rpt";
 * const metadata = { doc_ref: "rpt", uri, file_uri: "file:///rpt", file_type: "md", title: "R", page_count: 0 };
 *
 * const { uri: file, etag } = await fileResolver({ directory })(uri, {
 *   read: (uri) => Promise.resolve({ contents: [{ uri, text: JSON.stringify(metadata) }] }),
 *   signal: new AbortController().signal,
 * });
 * assertEquals(JSON.parse(await Deno.readTextFile(new URL(file))).title, "R");
 * assertEquals(etag?.length, 64);
 * await Deno.remove(directory, { recursive: true });
 * ```
 */
export function fileResolver(options: FileResolverOptions): ResolveDpe {
  const directory = resolve(options.directory);
  let opening: Promise<ResolveDpe> | undefined;
  return async (uri, tools) => {
    opening ??= import("./file_resolver.ts").then((module) =>
      module.openFileResolver({ ...options, directory })
    );
    return await (await opening)(uri, tools);
  };
}

/**
 * Runs the resolver of a Computer (`docs/protocol/finder.md#fetching-a-file`).
 *
 * @throws {SmcpError} 4011 without a resolver, 4012 for an invalid URI, 4013 when the resolver fails or is too slow.
 */
export async function resolveDocument(
  request: GetDpeReq,
  options: { readonly resolveDpe: ResolveDpe | undefined; readonly routes: ResourceRoutes },
): Promise<DpeResource> {
  const { uri, timeout } = request;
  const { resolveDpe, routes } = options;
  if (resolveDpe === undefined) {
    const message = "Cannot resolve the document: this Computer has no resolver";
    throw new SmcpError(ErrorCode.DPE_RESOLVER_NOT_CONFIGURED, message, { details: { uri } });
  }
  if (!isValidDpeUri(uri)) {
    throw new SmcpError(ErrorCode.DPE_RESOLVER_INVALID_URI, "Invalid dpe:// URI", { details: { uri } });
  }
  using deadline = new Deadline(timeoutMsOf(request), {
    reason: () => new TypeError("Cannot resolve the document: no answer in time"),
  });
  const { signal } = deadline;
  const tools = {
    read: (uri: string) =>
      readResource({ uri, ...(timeout === undefined ? {} : { timeout }) }, { routes, signal }),
    signal,
  };
  try {
    return await abortable(resolveDpe(uri, tools), signal);
  } catch (cause) {
    const reason = signal.aborted
      ? "timeout"
      : cause instanceof SmcpError
      ? cause.message
      : "the resolver failed";
    const message = "Cannot resolve the document";
    throw new SmcpError(ErrorCode.DPE_RESOLUTION_FAILED, message, { details: { uri, reason }, cause });
  }
}
