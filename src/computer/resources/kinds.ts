/** Sorts listed resources into windows, documents and others, and warns of what is wrong with them. */
import type { WarnOnce } from "../../mcp/warn_once.ts";
import { readLayout } from "../../organizer/windows.ts";
import type { McpResource } from "../../protocol/resources.ts";
import { approximateSizeBytes, fitsApproximately } from "../../json/json.ts";
import { SKILL_SCHEME } from "../../protocol/skills.ts";
import { hasDpeScheme } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import { type ComputerLimits, DEFAULT_LIMITS } from "../../config/limits.ts";
import { type DpeResourceUri, tryParseResourceUri, type WindowResourceUri } from "./resource_uri.ts";

export type ResourceBounds = Pick<
  ComputerLimits,
  "maxListed" | "maxDocuments" | "maxSkillFiles" | "maxEntryBytes" | "maxListBytes"
>;

/** The most characters of what a host says of its documents, or of its search. */
export const MAX_NOTICE_LENGTH = 500;
export const MAX_HOSTS = 10_000;

/** A list sorted entry by entry. A `dpe://` URI of another level than 1 adds its host, and no document. */
export class SortedResources {
  readonly windows: McpResource[] = [];
  /** The listed URI of each window by its key; the first URI where several differ only in their query. */
  readonly windowUris: Map<string, string> = new Map();
  /** The listed URI of each document (Level 1) by its key. */
  readonly documentUris: Map<string, string> = new Map();
  readonly hosts: Set<string> = new Set();
  /** Invalid `window://` and `dpe://` URIs. */
  readonly invalid: string[] = [];
  /** How many entries were left out because they are too large. */
  tooLarge = 0;
  excess = 0;
  /** The resources of skills; they also count as other resources. */
  readonly skills: Pick<McpResource, "uri" | "_meta">[] = [];
  readonly #bounds: ResourceBounds;
  #freeBytes: number;

  constructor(bounds: ResourceBounds) {
    this.#bounds = bounds;
    this.#freeBytes = bounds.maxListBytes;
  }

  add(resource: McpResource): void {
    const { uri } = resource;
    const isSmall = fitsApproximately(resource, this.#bounds.maxEntryBytes);
    if (!hasWindowScheme(uri) && !hasDpeScheme(uri)) {
      if (uri.startsWith(SKILL_SCHEME)) this.#addSkill(resource, isSmall);
      return;
    }
    if (!isSmall) {
      this.tooLarge++;
      return;
    }
    const parsed = tryParseResourceUri(uri);
    if (parsed?.kind === "window") this.#addWindow(resource, parsed);
    else if (parsed?.kind === "dpe") this.#addDocument(parsed);
    else this.invalid.push(uri);
  }

  #addSkill({ uri, _meta }: McpResource, isSmall: boolean): void {
    const skill = { uri, _meta };
    const isFull = this.skills.length >= this.#bounds.maxSkillFiles;
    if (!isSmall) this.tooLarge++;
    else if (isFull || !this.#takeRoom(approximateSizeBytes(skill))) this.excess++;
    else this.skills.push(skill);
  }

  #addWindow(resource: McpResource, { key, raw, host }: WindowResourceUri): void {
    if (this.windows.length >= this.#bounds.maxListed || !this.#takeRoom(approximateSizeBytes(resource))) {
      this.excess++;
      return;
    }
    this.windows.push(resource);
    if (!this.windowUris.has(key)) this.windowUris.set(key, raw);
    this.#addHost(host);
  }

  #addDocument({ key, raw, host, dpe }: DpeResourceUri): void {
    this.#addHost(host);
    if (dpe.level !== 1 || this.documentUris.has(key)) return;
    if (this.documentUris.size >= this.#bounds.maxDocuments || !this.#takeRoom(raw.length)) this.excess++;
    else this.documentUris.set(key, raw);
  }

  #addHost(host: string): void {
    if (this.hosts.size < MAX_HOSTS) this.hosts.add(host);
  }

  #takeRoom(bytes: number): boolean {
    if (bytes > this.#freeBytes) return false;
    this.#freeBytes -= bytes;
    return true;
  }
}

export const NO_RESOURCES: SortedResources = new SortedResources(DEFAULT_LIMITS);

/** Warns of the problems of a new list; of the layout of windows only where `isShown`. */
export function warnOfList(
  { windows, invalid, tooLarge, excess }: SortedResources,
  { server, limits, warnOnce, isShown }: {
    readonly server: string;
    readonly limits: ResourceBounds;
    readonly warnOnce: WarnOnce;
    readonly isShown: boolean;
  },
): void {
  const { maxListed, maxDocuments, maxSkillFiles, maxEntryBytes, maxListBytes } = limits;
  for (const uri of invalid) {
    warnOnce.warn("a listed resource has an invalid URI and is left out", { server, uri });
  }
  if (tooLarge > 0) {
    const fields = { server, count: tooLarge, limit: maxEntryBytes };
    warnOnce.warn("listed resources are left out: too large", fields);
  }
  if (excess > 0) {
    const most = { windows: maxListed, documents: maxDocuments, skill_files: maxSkillFiles };
    const fields = { server, count: excess, ...most, bytes: maxListBytes };
    warnOnce.warn("listed resources are left out: too many", fields);
  }
  for (const resource of isShown ? windows : []) {
    readLayout({ server, resource, contents: undefined }, (_window, kind, message) => {
      warnOnce.warn(message, { server, uri: resource.uri, kind });
    });
  }
}

export function keysDiffer(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): boolean {
  return before.size !== after.size || before.keys().some((key) => !after.has(key));
}

/** Whether two lists have the same windows with the same annotations and metadata, in any order. */
export function sameWindows(before: readonly McpResource[], after: readonly McpResource[]): boolean {
  if (before === after) return true;
  const [old, next] = [layoutsOf(before), layoutsOf(after)];
  return old.size === next.size && next.entries().every(([uri, layout]) => old.get(uri) === layout);
}

/** The annotations and metadata by URI. Of equal URIs the first is used, as on the Desktop. */
function layoutsOf(resources: readonly McpResource[]): Map<string, string> {
  const layouts = new Map<string, string>();
  for (const { uri, annotations, _meta } of resources) {
    if (!layouts.has(uri)) layouts.set(uri, JSON.stringify([annotations, _meta]));
  }
  return layouts;
}
