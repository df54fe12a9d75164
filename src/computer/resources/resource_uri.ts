/** The URI of a resource, parsed once: of a window, of a document or its host, or of another resource. Pure. */
import { badRequest } from "../../protocol/errors.ts";
import { describeError } from "../../text/text.ts";
import { buildDpeUri, type DpeUri, hasDpeScheme, parseDpeUri } from "../../uri/dpe_uri.ts";
import { buildWindowUri, hasWindowScheme, parseWindowUri } from "../../uri/window_uri.ts";

export type ResourceUri = WindowResourceUri | DpeResourceUri | OtherResourceUri;

export interface WindowResourceUri {
  readonly kind: "window";
  readonly raw: string;
  /** In lower case. */
  readonly host: string;
  /** The URI without its query, as `windowIdentity` spells it: equal for all spellings of a window. */
  readonly key: string;
}

export interface DpeResourceUri {
  readonly kind: "dpe";
  readonly raw: string;
  /** In lower case. */
  readonly host: string;
  /** The document's URI, or the host's at Level 0: equal for all spellings, levels and queries. */
  readonly key: string;
  readonly dpe: DpeUri;
}

/** A URI of any other scheme; only a named MCP server can be asked for it. */
export interface OtherResourceUri {
  readonly kind: "other";
  readonly raw: string;
  readonly host?: undefined;
}

/**
 * Parses the URI of a request.
 *
 * @throws {SmcpError} 4204 for an invalid `dpe://` URI, 400 for an invalid `window://` URI.
 */
export function parseResourceUri(raw: string): ResourceUri {
  if (hasDpeScheme(raw)) return toDpeResourceUri(raw);
  if (!hasWindowScheme(raw)) return { kind: "other", raw };
  try {
    return toWindowResourceUri(raw);
  } catch (error) {
    throw badRequest("uri", describeError(error));
  }
}

/** Parses the URI of a listed resource; `undefined` where {@linkcode parseResourceUri} throws. */
export function tryParseResourceUri(raw: string): ResourceUri | undefined {
  try {
    return parseResourceUri(raw);
  } catch {
    return undefined;
  }
}

/** The key of a `dpe://` URI; `undefined` for any other text. */
export function documentKey(raw: string): string | undefined {
  const uri = hasDpeScheme(raw) ? tryParseResourceUri(raw) : undefined;
  return uri?.kind === "dpe" ? uri.key : undefined;
}

function toWindowResourceUri(raw: string): WindowResourceUri {
  const { host, path } = parseWindowUri(raw);
  return { kind: "window", raw, host, key: buildWindowUri({ host, path }) };
}

function toDpeResourceUri(raw: string): DpeResourceUri {
  const dpe = parseDpeUri(raw);
  const { host, docRef } = dpe;
  const key = docRef === undefined ? buildDpeUri({ host }) : buildDpeUri({ host, docRef });
  return { kind: "dpe", raw, host, key, dpe };
}
