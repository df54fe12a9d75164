/** Telling listed resources apart: windows, documents, and what only tells its host. Pure. */
import type { McpResource } from "../../protocol/resources.ts";
import { approximateSizeBytes, fitsApproximately } from "../../protocol/size.ts";
import { hasDpeScheme } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import type { ListLimits } from "../limits.ts";
import { type DpeResourceUri, tryParseResourceUri, type WindowResourceUri } from "./resource_uri.ts";

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
  /** How many entries are left out because each of them is too large. */
  readonly tooLarge: number;
  /** How many entries are left out because there are too many. */
  readonly excess: number;
  /** Stands for all other resources, in whatever order. */
  readonly others: string;
}

/** How much of a list is kept. */
export type ResourceBounds = Pick<
  ListLimits,
  "maxWindows" | "maxDocuments" | "maxResourceBytes" | "maxResourceListBytes"
>;

/** The most hosts that one server is known by. */
export const MAX_HOSTS = 10_000;

/** Tells one list of texts from the next, whatever their order: the sums of two hashes of 32 bits. */
class ListDigest {
  #count = 0;
  #one = 0;
  #two = 0;

  get value(): string {
    return `${this.#count}:${this.#one}:${this.#two}`;
  }

  add(text: string): void {
    let [one, two] = [0x811c9dc5, 0x01000193];
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      one = Math.imul(one ^ unit, 0x01000193);
      two = Math.imul(two ^ unit, 0x85ebca6b) ^ (two >>> 13);
    }
    this.#count++;
    this.#one = (this.#one + one) >>> 0;
    this.#two = (this.#two + two) >>> 0;
  }
}

/** Sorts a list, entry by entry, into windows and documents; a URI of a host's other levels only tells the host. */
export class ResourceSorter {
  readonly #bounds: ResourceBounds;
  readonly #windows: McpResource[] = [];
  readonly #windowUris = new Map<string, string>();
  readonly #documentUris = new Map<string, string>();
  readonly #hosts = new Set<string>();
  readonly #invalid: string[] = [];
  #roomBytes: number;
  #tooLarge = 0;
  #excess = 0;
  readonly #others = new ListDigest();

  constructor(bounds: ResourceBounds) {
    this.#bounds = bounds;
    this.#roomBytes = bounds.maxResourceListBytes;
  }

  /** What was added so far. */
  get sorted(): SortedResources {
    return {
      windows: this.#windows,
      windowUris: this.#windowUris,
      documentUris: this.#documentUris,
      hosts: this.#hosts,
      invalid: this.#invalid,
      tooLarge: this.#tooLarge,
      excess: this.#excess,
      others: this.#others.value,
    };
  }

  add(resource: McpResource): void {
    const { uri } = resource;
    const isSmall = fitsApproximately(resource, this.#bounds.maxResourceBytes);
    if (!hasWindowScheme(uri) && !hasDpeScheme(uri)) {
      this.#others.add(isSmall ? JSON.stringify(resource) : uri.slice(0, this.#bounds.maxResourceBytes));
      return;
    }
    if (!isSmall) {
      this.#tooLarge++;
      return;
    }
    const parsed = tryParseResourceUri(uri);
    if (parsed?.kind === "window") this.#addWindow(resource, parsed);
    else if (parsed?.kind === "dpe") this.#addDocument(parsed);
    else this.#invalid.push(uri);
  }

  #addWindow(resource: McpResource, { key, raw, host }: WindowResourceUri): void {
    if (this.#windows.length >= this.#bounds.maxWindows || !this.#takeRoom(approximateSizeBytes(resource))) {
      this.#excess++;
      return;
    }
    this.#windows.push(resource);
    if (!this.#windowUris.has(key)) this.#windowUris.set(key, raw);
    this.#addHost(host);
  }

  #addDocument({ key, raw, host, dpe }: DpeResourceUri): void {
    this.#addHost(host);
    if (dpe.level !== 1 || this.#documentUris.has(key)) return;
    if (this.#documentUris.size >= this.#bounds.maxDocuments || !this.#takeRoom(raw.length)) this.#excess++;
    else this.#documentUris.set(key, raw);
  }

  #addHost(host: string): void {
    if (this.#hosts.size < MAX_HOSTS) this.#hosts.add(host);
  }

  #takeRoom(bytes: number): boolean {
    if (bytes > this.#roomBytes) return false;
    this.#roomBytes -= bytes;
    return true;
  }
}

/** A list of nothing. */
export const NO_RESOURCES: SortedResources = {
  windows: [],
  windowUris: new Map(),
  documentUris: new Map(),
  hosts: new Set(),
  invalid: [],
  tooLarge: 0,
  excess: 0,
  others: new ListDigest().value,
};

/** Whether two maps have different keys. */
export function keysDiffer(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): boolean {
  return before.size !== after.size || before.keys().some((key) => !after.has(key));
}

/** Whether two lists show the same windows with the same annotations and metadata, in whatever order. */
export function sameWindows(before: readonly McpResource[], after: readonly McpResource[]): boolean {
  if (before === after) return true;
  const [old, next] = [layoutsOf(before), layoutsOf(after)];
  return old.size === next.size && next.entries().every(([uri, layout]) => old.get(uri) === layout);
}

/** The first of a URI counts, as on the Desktop. */
function layoutsOf(resources: readonly McpResource[]): Map<string, string> {
  const layouts = new Map<string, string>();
  for (const { uri, annotations, _meta } of resources) {
    if (!layouts.has(uri)) layouts.set(uri, JSON.stringify([annotations, _meta]));
  }
  return layouts;
}
