/** The documents of one MCP server, as far as they are known to hold. */
import { settledWithin } from "../../async/abortable.ts";
import { delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import { DocumentShelf } from "../../organizer/shelf.ts";
import { type PreparedDocument, prepareDocument } from "../../organizer/document.ts";
import type { DPEDocumentSummary } from "../../protocol/dpe.ts";
import { isRecord } from "../../json.ts";
import { describeError } from "../../text.ts";
import type { ResourceContents } from "../../protocol/resources.ts";
import { buildDpeUri } from "../../uri/dpe_uri.ts";
import { ByteBudget } from "./byte_budget.ts";
import { readCatalogueEntries, readDocumentSummary, toDocumentSummary } from "./document_summary.ts";
import { EntryCache, type EntryCacheOptions, type ReadValue } from "./cache.ts";
import type { ListLimits } from "../limits.ts";
import type { ListWarnings } from "./list_warnings.ts";
import { documentKey, hostOf } from "./kinds.ts";

/** How many entries of a catalogue are read before others have their turn. */
const CATALOGUE_SLICE = 2_000;
/** How long a catalogue waits for its subscription before it is read without, in milliseconds. */
const SUBSCRIPTION_GRACE_MS = 500;

/** What a document view needs. */
export interface DocumentViewContext
  extends Pick<EntryCacheOptions<unknown>, "onFailure" | "concurrency" | "maxAgeMs" | "now"> {
  readonly limits: ListLimits;
  /** The MCP server's name. */
  readonly server: string;
  readonly read: (uri: string) => Promise<readonly ResourceContents[]>;
  /** Subscribes to a URI, unless it is subscribed; tells whether the server agreed. */
  readonly subscribe: (uri: string) => Promise<boolean>;
  readonly log: Logger;
  readonly warnings: Pick<ListWarnings, "warn">;
}

type Summary = DPEDocumentSummary | undefined;

/**
 * Keeps a server's summaries in the Finder's order. Where the server answers Level 0, all of them come from that one
 * read; otherwise, and for a few that changed, each comes from its Level 1.
 */
export class DocumentView {
  readonly #context: DocumentViewContext;
  readonly #cache: EntryCache<Summary>;
  readonly #shelf = new DocumentShelf();
  readonly #bytes: ByteBudget;
  /** The listed URIs by {@linkcode documentKey}. */
  #uris: ReadonlyMap<string, string> = new Map();
  readonly #catalogueUris = new Set<string>();
  /** Hosts whose Level 0 changed since the last request. */
  readonly #changedHosts = new Set<string>();
  /** Hosts that do not answer Level 0 in this session. */
  readonly #hostsWithoutCatalogue = new Set<string>();

  constructor(context: DocumentViewContext) {
    this.#context = context;
    const { onFailure, concurrency, maxAgeMs, now, read, limits } = context;
    this.#bytes = new ByteBudget({ eachBytes: limits.maxSummaryBytes, totalBytes: limits.maxSummariesBytes });
    this.#cache = new EntryCache<Summary>({
      onFailure,
      concurrency,
      maxAgeMs,
      now,
      read: async (uri) => {
        const contents = await read(uri);
        return this.#attempt(uri, (origin) => readDocumentSummary(contents, origin));
      },
      readMany: (uris) => this.#readCatalogues(uris),
      onValue: (uri, summary) => {
        if (summary === undefined) this.#bytes.release(uri);
        this.#shelf.set(uri, summary && this.#prepare(summary));
      },
    });
  }

  /** The hosts' own URIs: what a catalogue is read from. */
  get catalogueUris(): ReadonlySet<string> {
    return this.#catalogueUris;
  }

  /** Takes the server's list. */
  follow(uris: ReadonlyMap<string, string>): void {
    this.#uris = uris;
    const listed = new Set(uris.values());
    this.#shelf.follow(listed);
    this.#cache.follow(listed);
  }

  /** A new session: nothing that was promised in the last one holds. */
  reset(): void {
    this.#hostsWithoutCatalogue.clear();
    this.#catalogueUris.clear();
    this.#cache.clearSubscriptions();
  }

  /** The server tells of changes to this URI from now on. */
  markSubscribed(uri: string): void {
    if (!this.#catalogueUris.has(uri)) this.#cache.markSubscribed(uri);
  }

  /**
   * The document that `key` stands for changed, or all of a host. The latter are marked only when they are asked for:
   * a storm of changes costs one pass.
   */
  invalidate(key: string): void {
    const listed = this.#uris.get(key);
    if (listed !== undefined) this.#cache.invalidate(listed);
    else if (isHostUri(key)) this.#changedHosts.add(`${key}/`);
  }

  /** Each document may have changed. */
  invalidateAll(): void {
    this.#cache.invalidateAll();
  }

  /** Reads what is missing or may have changed; tells whether all of it was read in time. */
  async refresh(withinMs: number): Promise<boolean> {
    this.#invalidateHosts();
    return await this.#cache.refreshAll(withinMs);
  }

  /** {@linkcode EntryCache.verify}. */
  async verify(withinMs: number): Promise<boolean> {
    return await this.#cache.verify(withinMs);
  }

  /** The last known summary of the document that `key` stands for. */
  summaryOf(key: string): Summary {
    const listed = this.#uris.get(key);
    return listed === undefined ? undefined : this.#cache.get(listed);
  }

  /** What is known, in the Finder's order. */
  get shelf(): DocumentShelf {
    return this.#shelf;
  }

  #invalidateHosts(): void {
    if (this.#changedHosts.size === 0) return;
    const prefixes = [...this.#changedHosts];
    this.#changedHosts.clear();
    for (const [key, uri] of this.#uris) {
      if (prefixes.some((prefix) => key.startsWith(prefix))) this.#cache.invalidate(uri);
    }
  }

  async #readCatalogues(uris: readonly string[]): Promise<ReadonlyMap<string, ReadValue<Summary>>> {
    const values = new Map<string, ReadValue<Summary>>();
    const hosts = new Set(uris.map(hostOf).filter((host) => host !== undefined));
    await Promise.all(
      hosts.difference(this.#hostsWithoutCatalogue).keys().map((host) => this.#readCatalogue(host, values)),
    );
    return values;
  }

  /**
   * One read of Level 0 for all documents of a host. It is subscribed first, so that its values are known to hold; a
   * server that is slow to subscribe is read all the same, and again for the next request. Entries that the server does
   * not list are left out, and documents that are only listed are read at Level 1.
   */
  async #readCatalogue(host: string, values: Map<string, ReadValue<Summary>>): Promise<void> {
    const { read, subscribe, now, log, server } = this.#context;
    const uri = buildDpeUri({ host });
    this.#catalogueUris.add(uri);
    const isSubscribed = await settledWithin(subscribe(uri), SUBSCRIPTION_GRACE_MS) === true;
    const readAtMs = now();
    try {
      const entries = readCatalogueEntries(await read(uri));
      for (let start = 0; start < entries.length; start += CATALOGUE_SLICE) {
        if (start > 0) await delay(0);
        for (const entry of entries.slice(start, start + CATALOGUE_SLICE)) {
          const listed = this.#listedUriOf(entry);
          if (listed === undefined) continue;
          const value = this.#attempt(listed, (origin) => toDocumentSummary(entry, origin));
          values.set(listed, { value, readAtMs });
          if (isSubscribed) this.#cache.markSubscribed(listed, readAtMs);
        }
      }
    } catch (error) {
      this.#hostsWithoutCatalogue.add(host);
      log.debug("no catalogue, so each document is read by itself", {
        server,
        uri,
        error: describeError(error),
      });
    }
  }

  #listedUriOf(entry: unknown): string | undefined {
    const uri = isRecord(entry) ? entry["uri"] : undefined;
    const key = typeof uri === "string" ? documentKey(uri) : undefined;
    const listed = key === undefined ? undefined : this.#uris.get(key);
    if (listed === undefined) {
      this.#context.warnings.warn(
        "a document of the catalogue is left out: its MCP server does not list it",
        { uri },
      );
    }
    return listed;
  }

  /** A document that cannot be used is left out with a warning; the rest is served. */
  #attempt(uri: string, toSummary: (origin: { uri: string; server: string }) => DPEDocumentSummary): Summary {
    const { server, warnings, limits: { maxSummaryBytes, maxSummariesBytes } } = this.#context;
    try {
      const summary = toSummary({ uri, server });
      if (this.#bytes.take(uri, summary)) return summary;
      const message =
        "a document is left out of the Finder: its summary is too large, or those of its MCP server together are";
      warnings.warn(message, { uri, limit: maxSummaryBytes, limitOfAll: maxSummariesBytes });
      return undefined;
    } catch (error) {
      warnings.warn("a document is left out of the Finder", { uri, error: describeError(error) });
      return undefined;
    }
  }

  #prepare(summary: DPEDocumentSummary): PreparedDocument | undefined {
    const { warnings } = this.#context;
    return prepareDocument(
      summary,
      ({ code, message, uri }) => warnings.warn(message, { kind: code, uri }),
    );
  }
}

/** Whether a {@linkcode documentKey} stands for a host, not for one document of it. */
function isHostUri(key: string): boolean {
  return !key.slice("dpe://".length).includes("/");
}
