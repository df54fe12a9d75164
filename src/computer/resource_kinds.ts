/** Telling listed resources apart: windows, documents, and what only tells its host. Pure. */
import type { McpResource } from "../protocol/resources.ts";
import { buildDpeUri, type DpeUri, parseDpeUri } from "../uri/dpe_uri.ts";
import { hasDpeScheme, hasWindowScheme } from "../uri/scheme.ts";
import { parseWindowUri } from "../uri/window_uri.ts";
import { windowIdentity } from "../uri/window_identity.ts";

/** A server's list, sorted. */
export interface SortedResources {
  readonly windows: readonly McpResource[];
  /** The listed URI by {@linkcode windowIdentity}; the first where several differ only in their query. */
  readonly windowUris: ReadonlyMap<string, string>;
  /** The listed URIs of Level 1 by {@linkcode documentKey}: only they are documents. */
  readonly documentUris: ReadonlyMap<string, string>;
  readonly hosts: ReadonlySet<string>;
  /** What has the scheme of a window or a document and is neither. */
  readonly invalid: readonly string[];
}

/** Sorts a list into windows and documents; a URI of a host's other levels only tells the host. */
export function sortResources(resources: readonly McpResource[]): SortedResources {
  const windows: McpResource[] = [];
  const windowUris = new Map<string, string>();
  const documentUris = new Map<string, string>();
  const hosts = new Set<string>();
  const invalid: string[] = [];
  for (const resource of resources) {
    const { uri } = resource;
    const identity = windowIdentity(uri);
    const dpe = tryParseDpe(uri);
    if (identity !== undefined) {
      windows.push(resource);
      if (!windowUris.has(identity)) windowUris.set(identity, uri);
      hosts.add(parseWindowUri(uri).host);
    } else if (dpe !== undefined) {
      hosts.add(dpe.host);
      if (dpe.level === 1 && !documentUris.has(keyOf(dpe))) documentUris.set(keyOf(dpe), uri);
    } else if (hasWindowScheme(uri) || hasDpeScheme(uri)) invalid.push(uri);
  }
  return { windows, windowUris, documentUris, hosts, invalid };
}

/**
 * What names a document, whatever the level, the query and the spelling of the URI; the host's own URI at Level 0;
 * `undefined` for what is no `dpe://` URI.
 */
export function documentKey(uri: string): string | undefined {
  const dpe = tryParseDpe(uri);
  return dpe === undefined ? undefined : keyOf(dpe);
}

/** The host of a `dpe://` URI. */
export function hostOf(uri: string): string | undefined {
  return tryParseDpe(uri)?.host;
}

/** Whether two maps have different keys. */
export function keysDiffer(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): boolean {
  return before.size !== after.size || before.keys().some((key) => !after.has(key));
}

function keyOf({ host, docRef }: DpeUri): string {
  return docRef === undefined ? buildDpeUri({ host }) : buildDpeUri({ host, docRef });
}

/** Whether two lists show the same windows with the same annotations and metadata, in the same order. */
export function sameWindows(before: readonly McpResource[], after: readonly McpResource[]): boolean {
  if (before.length !== after.length) return false;
  return before.every((resource, index) => layoutOf(resource) === layoutOf(after[index]));
}

function layoutOf(resource: McpResource | undefined): string {
  return JSON.stringify([resource?.uri, resource?.annotations, resource?._meta]);
}

function tryParseDpe(uri: string): DpeUri | undefined {
  if (!hasDpeScheme(uri)) return undefined;
  try {
    return parseDpeUri(uri);
  } catch {
    return undefined;
  }
}
