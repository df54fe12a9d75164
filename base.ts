/**
 * What the packages of this project share below their doors: `@a2c-smcp/documents` reaches it by this name, at exactly
 * this version. Unstable: anything here can change or go in any release, so nobody else should import it.
 *
 * @module
 */
export { abortable, settledWithin, untilAborted } from "./src/async/abortable.ts";
export { BoundedMap } from "./src/async/bounded_collections.ts";
export { forEachBounded } from "./src/async/limiter.ts";
export { Throttle } from "./src/async/throttle.ts";
export { visitInTurns } from "./src/async/turns.ts";
export { outlineWithin, type PageSpan, renderOutline } from "./src/dpe/outline.ts";
export { describeFileError } from "./src/files/files.ts";
export { FolderWatch } from "./src/files/folder_watch.ts";
export { globProblem } from "./src/files/globs.ts";
export { createLogger, type Logger, silentLogger } from "./src/log.ts";
export { openRegularFile, readBeginning } from "./src/files/open_file.ts";
export { importWords } from "./src/own_imports.ts";
export { MAX_ROOM, roomOf } from "./src/local_tools/answer_parts.ts";
export { ArgumentError, type Arguments, pagingOf } from "./src/local_tools/arguments.ts";
export {
  connectorResult,
  FETCH_SHAPE,
  fetchDocument,
  isOfOpenAi,
  SEARCH_SHAPE,
} from "./src/local_tools/connector_answers.ts";
export {
  pageNameOf,
  type ReadableDocument,
  type Reading,
  READING_PROPERTIES,
  readingOf,
  showDocument,
  textOf,
  titleOf,
  toHitLine,
} from "./src/local_tools/document_answers.ts";
export {
  type CallContext,
  type LocalToolOf,
  type LocalToolParts,
  makeLocalTool,
} from "./src/local_tools/local_tool.ts";
export { errorResult, type Json, type McpToolResult } from "./src/local_tools/mcp.ts";
export { ErrorCode } from "./src/protocol/error_codes.ts";
export { SmcpError } from "./src/protocol/errors.ts";
export { readableOf } from "./src/provider/documents/content.ts";
export {
  toBareLine,
  toFence,
  toSeenLine,
  toSeenName,
  toSeenPath,
  toSeenUri,
  toSeenWord,
} from "./src/text/safe_text.ts";
export { countOf } from "./src/text/text.ts";
export { buildDpeUri, documentsHost, isValidDpeUri, parseDpeUri } from "./src/uri/dpe_uri.ts";
export { PACKAGE_VERSION } from "./src/version.ts";
