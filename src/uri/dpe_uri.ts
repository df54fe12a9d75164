/** `dpe://host[/doc-ref[/pages/N | /elements/ID]][?query]` (`docs/protocol/finder.md#uri-form`). */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { encodeText, type Refusal, refuseHost, refuseSegment, refuseText, splitUri } from "./_segments.ts";
import { NO_PARAMS, parseNaturalNumber, readQuery, refuseParam, writeQuery } from "./dpe_query.ts";
import { excerpt } from "../text/text.ts";

/** The parts to build a `dpe://` URI from, without percent-encoding. */
export interface DpeUriParts {
  /** The namespace of the MCP server. */
  readonly host: string;
  /** The opaque key of a document. */
  readonly docRef?: string | undefined;
  /** `pages/{N}` or `elements/{ID}`; everything after `elements/` is the id. */
  readonly subPath?: string | undefined;
  /** `format`, `depth`, `offset`, `limit`, `categories`, or unknown keys. */
  readonly queryParams?: Readonly<Record<string, string>> | undefined;
}

/** A parsed `dpe://` URI; all text is decoded. */
export interface DpeUri {
  /** Always `dpe`. */
  readonly scheme: "dpe";
  /** The namespace of the MCP server, in lower case. */
  readonly host: string;
  /** The opaque key of the document, from Level 1. */
  readonly docRef: string | undefined;
  /** `pages/{N}` at Level 2, `elements/{ID}` at Level 3. */
  readonly subPath: string | undefined;
  /** Every parameter, including unknown ones; has no prototype. Read it with {@linkcode dpeQueryOf}. */
  readonly queryParams: Readonly<Record<string, string>>;
  /** 0 the catalogue, 1 a document, 2 a page, 3 an element. */
  readonly level: 0 | 1 | 2 | 3;
  /** From 0; at Level 2. */
  readonly pageIndex: number | undefined;
  /** At Level 3; may contain slashes. */
  readonly elementId: string | undefined;
}

const SCHEME = /^dpe:/i;

/** Whether `uri` has the scheme `dpe`, in any case; the rest of it may be invalid. */
export function hasDpeScheme(uri: string): boolean {
  return SCHEME.test(uri);
}

/** The most characters of the last part of such a host, which has room for a few names. */
const MAX_LABEL_LENGTH = 60;

/**
 * The host of documents of folders: `local.documents.reports-notes` for the names `Reports` and `Notes`. Names without
 * letters and digits count for nothing.
 */
export function documentsHost(names: readonly string[]): string {
  const labels = names.map((name) =>
    name.normalize("NFC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")
  ).filter((label) => label !== "");
  const [first, ...others] = new Set(labels);
  if (first === undefined) return "local.documents";
  const all = [first, ...others].join("-");
  const label = all.length <= MAX_LABEL_LENGTH ? all : `${first}-and-${others.length}-more`;
  return `local.documents.${label}`;
}

/** The meaning of the segments after the host. */
type DpePath = Pick<DpeUri, "docRef" | "subPath" | "level" | "pageIndex" | "elementId">;

/** A valid URI that needs no decoding and has no query. */
const PLAIN =
  /^dpe:\/\/[a-z0-9._~:-]+(?:\/[A-Za-z0-9._~-]+(?:\/(?:pages\/(?:0|[1-9][0-9]{0,14})|elements\/[A-Za-z0-9._~-]+))?)?$/;

/**
 * Reads a `dpe://` URI and checks the eight rules of the specification. Segments are percent-decoded one by one,
 * so an element `a%2Fb` has the id `a/b`.
 *
 * Specification: `docs/protocol/finder.md#validation-rules`.
 *
 * @param raw the URI as it was written
 * @returns the parts; `undefined` for parts that the level does not have
 * @throws {SmcpError} 4204 with `details.uri` when a rule is broken
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { parseDpeUri, SmcpError } from "@a2c-smcp/sdk";
 *
 * const page = parseDpeUri("dpe://com.example.docs/rpt-2026/pages/0?categories=table");
 * assertEquals([page.level, page.docRef, page.pageIndex], [2, "rpt-2026", 0]);
 * assertEquals(page.queryParams.categories, "table");
 *
 * const error = assertThrows(() => parseDpeUri("dpe://com.example.docs/rpt-2026/pages/last"), SmcpError);
 * assertEquals(error.code, 4204);
 * ```
 */
export function parseDpeUri(raw: string): DpeUri {
  const uri = readDpeUri(raw);
  if (typeof uri === "string") throw invalidDpeUri("parse", raw, uri);
  return uri;
}

/** Whether {@linkcode parseDpeUri} accepts `raw`. Much faster, and never throws. */
export function isValidDpeUri(raw: string): boolean {
  return PLAIN.test(raw) || typeof readDpeUri(raw) !== "string";
}

/**
 * Writes a `dpe://` URI: the inverse of {@linkcode parseDpeUri}. Everything but unreserved characters is
 * percent-encoded, so an element `a/b` is written `elements/a%2Fb`.
 *
 * Specification: `docs/protocol/finder.md#parsing-and-building`.
 *
 * @param parts the host, which is written in lower case, and the other parts of the URI, without percent-encoding
 * @throws {SmcpError} 4204 with `details.uri` when the parts break a rule, or contain a lone surrogate
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { buildDpeUri } from "@a2c-smcp/sdk";
 *
 * assertEquals(
 *   buildDpeUri({ host: "com.example.docs", docRef: "rpt-2026", queryParams: { depth: "pages" } }),
 *   "dpe://com.example.docs/rpt-2026?depth=pages",
 * );
 * assertEquals(
 *   buildDpeUri({ host: "com.example.docs", docRef: "rpt-2026", subPath: "elements/a/b" }),
 *   "dpe://com.example.docs/rpt-2026/elements/a%2Fb",
 * );
 * ```
 */
export function buildDpeUri(parts: DpeUriParts): string {
  const refusal = refuseParts(parts);
  const { host, docRef, subPath, queryParams } = parts;
  if (refusal !== undefined) {
    const plain = [`dpe://${host}`, docRef, subPath].filter((part) => part !== undefined).join("/");
    throw invalidDpeUri("build", plain, refusal);
  }
  let built = `dpe://${host.toLowerCase()}`;
  if (docRef !== undefined) built += `/${encodeText(docRef)}`;
  if (subPath !== undefined) built += `/${splitSubPath(subPath).map(encodeText).join("/")}`;
  return queryParams === undefined ? built : built + writeQuery(queryParams);
}

function readDpeUri(raw: string): DpeUri | Refusal {
  const parts = splitUri(raw, "dpe");
  if (typeof parts === "string") return parts;
  const path = readPath(parts.segments);
  if (typeof path === "string") return path;
  const queryParams = parts.query === undefined ? NO_PARAMS : readQuery(parts.query);
  if (typeof queryParams === "string") return queryParams;
  const { docRef, subPath, level, pageIndex, elementId } = path;
  return { scheme: "dpe", host: parts.host, docRef, subPath, queryParams, level, pageIndex, elementId };
}

function readPath(segments: readonly string[]): DpePath | Refusal {
  const [docRef, word, value] = segments;
  const none = undefined;
  if (word === undefined) {
    return { docRef, subPath: none, level: docRef === undefined ? 0 : 1, pageIndex: none, elementId: none };
  }
  if (segments.length > 3) return "it has more segments than the form";
  if (word !== "pages" && word !== "elements") return "the sub-path is not pages/{N} or elements/{ID}";
  if (value === undefined) return `${word} has no value`;
  const subPath = `${word}/${value}`;
  if (word === "elements") return { docRef, subPath, level: 3, pageIndex: none, elementId: value };
  const pageIndex = parseNaturalNumber(value);
  if (pageIndex === undefined) return "the page is not a non-negative integer";
  return { docRef, subPath, level: 2, pageIndex, elementId: none };
}

function refuseParts({ host, docRef, subPath, queryParams = {} }: DpeUriParts): Refusal | undefined {
  const refusal = refuseHost(host) ?? refuseText(host);
  if (refusal !== undefined) return refusal;
  if (docRef === undefined && subPath !== undefined) return "a sub-path needs a doc-ref";
  const subSegments = subPath === undefined ? [] : splitSubPath(subPath);
  const segments = [docRef, ...subSegments].filter((segment) => segment !== undefined);
  for (const segment of segments) {
    const refusal = refuseSegment(segment);
    if (refusal !== undefined) return refusal;
  }
  const path = readPath(segments);
  if (typeof path === "string") return path;
  for (const [key, value] of Object.entries(queryParams)) {
    const refusal = refuseParam(key, value);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** `elements/a/b` is the word `elements` and the id `a/b`. */
function splitSubPath(subPath: string): string[] {
  const slash = subPath.indexOf("/");
  return slash < 0 ? [subPath] : [subPath.slice(0, slash), subPath.slice(slash + 1)];
}

function invalidDpeUri(verb: "parse" | "build", uri: string, refusal: Refusal): SmcpError {
  return new SmcpError(ErrorCode.INVALID_DPE_URI, `Cannot ${verb} dpe URI ${excerpt(uri)}: ${refusal}`, {
    details: { uri: uri.toWellFormed() },
  });
}
