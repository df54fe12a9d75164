/** The documents of one MCP server: their summaries are kept until they change or become too old. */
import { settledWithin } from "../../async/abortable.ts";
import { delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import { DocumentShelf } from "../../organizer/finder.ts";
import { type PreparedDocument, prepareDocument } from "../../organizer/document.ts";
import type { DPEDocumentSummary } from "../../protocol/dpe.ts";
import { isRecord } from "../../json/json.ts";
import { parseDpeDocument } from "../../protocol/dpe_answers.ts";
import { describeError, shorten } from "../../text/text.ts";
import type { ResourceContents } from "../../protocol/resources.ts";
import { buildDpeUri } from "../../uri/dpe_uri.ts";
import { EntryCache, type EntryCacheOptions, type FreshValue, type ReadValue } from "./cache.ts";
import { MAX_NOTICE_LENGTH } from "./kinds.ts";
import type { ComputerLimits } from "../../config/limits.ts";
import { documentKey, tryParseResourceUri } from "./resource_uri.ts";
import type { SearchedServer } from "./text_search.ts";

/** How many entries of a catalogue are read before other work of the process runs. */
const CATALOGUE_SLICE = 2_000;
/** The most hosts of a server that are asked why documents are missing, and that say so. */
const MAX_NOTICES = 8;
/** How long the subscription of a catalogue may take before the catalogue is read without it, in milliseconds. */
const SUBSCRIPTION_GRACE_MS = 500;

export interface ServerDocumentsContext
  extends Pick<EntryCacheOptions<unknown>, "onFailure" | "onLate" | "concurrency" | "maxAgeMs" | "now"> {
  readonly limits: ComputerLimits;
  readonly server: string;
  readonly read: (uri: string) => Promise<FreshValue<readonly ResourceContents[]>>;
  /** Subscribes to a URI, unless it is subscribed; resolves to whether the server agreed. */
  readonly subscribe: (uri: string) => Promise<boolean>;
  readonly log: Logger;
  readonly warnOnce: WarnOnce;
}

type Summary = DPEDocumentSummary | undefined;

/**
 * Keeps a server's summaries in the Finder's order. Many summaries are read from the host's catalogue at Level 0, if the
 * server has one. A few changed summaries, and those of a server without catalogue, are read one by one at Level 1.
 */
export class ServerDocuments {
  readonly cache: EntryCache<Summary>;
  /** The URIs of Level 0 from which catalogues were read. */
  readonly catalogueUris: Set<string> = new Set();
  /** The known documents, in the Finder's order. */
  readonly shelf: DocumentShelf = new DocumentShelf();
  readonly #context: ServerDocumentsContext;
  /** The listed URIs by {@linkcode documentKey}. */
  #uris: ReadonlyMap<string, string> = new Map();
  /** Hosts whose Level 0 changed since the last request. */
  readonly #changedHosts = new Set<string>();
  /** Why documents are missing, as the catalogue of a host said last. */
  readonly #notices = new Map<string, string>();
  /** Hosts that are asked why in this session. */
  #asked = new Set<string>();
  /** Hosts without a catalogue in this session. */
  readonly #hostsWithoutCatalogue = new Set<string>();
  /** Hosts that cannot search in texts in this session. */
  readonly #hostsWithoutSearch = new Set<string>();

  constructor(context: ServerDocumentsContext) {
    this.#context = context;
    const { read, limits } = context;
    const { maxEntryBytes, maxListBytes } = limits;
    this.cache = new EntryCache<Summary>({
      ...context,
      read: async (uri) => {
        const { value, freshMs } = await read(uri);
        return { value: this.#attempt(uri, (origin) => readDocumentSummary(value, origin)), freshMs };
      },
      readMany: (uris) => this.#readCatalogues(uris),
      bounds: {
        eachBytes: maxEntryBytes,
        totalBytes: maxListBytes,
        onTooLarge: (uri) => {
          const message =
            "a document is left out of the Finder: its summary or all summaries of its MCP server are too large";
          const bounds = { limit: maxEntryBytes, limitOfAll: maxListBytes };
          context.warnOnce.warn(message, { server: context.server, uri, ...bounds });
          return undefined;
        },
      },
      onValue: (uri, summary) => this.shelf.set(uri, summary && this.#prepare(summary)),
    });
  }

  /** Takes the server's list: forgets documents that are not in it. */
  follow(uris: ReadonlyMap<string, string>): void {
    // Few documents that come back are read one by one, without the catalogue that had the notice.
    const emptied = uris.size === 0 ? hostsOf(this.#uris.values()) : [];
    const asked = new Set([...this.#notices.keys(), ...emptied]);
    this.#uris = uris;
    for (const host of [...asked].slice(0, MAX_NOTICES)) void this.#askWhy(host);
    const listed = new Set(uris.values());
    this.shelf.follow(listed);
    this.cache.follow(listed);
  }

  /** Starts a new session, without subscriptions. */
  reset(): void {
    this.#hostsWithoutCatalogue.clear();
    this.#hostsWithoutSearch.clear();
    this.#notices.clear();
    this.#asked = new Set();
    this.catalogueUris.clear();
    this.cache.clearSubscriptions();
  }

  markSubscribed(uri: string): void {
    if (!this.catalogueUris.has(uri)) this.cache.markSubscribed(uri);
  }

  /**
   * The document of this key has changed, or all documents of a host. The documents of a host are marked at the next
   * request, so that many announcements cost one pass.
   */
  invalidate(key: string): void {
    const listed = this.#uris.get(key);
    if (listed !== undefined) this.cache.invalidate(listed);
    else if (isHostUri(key)) this.#changedHosts.add(`${key}/`);
  }

  /** Reads summaries that are missing or may have changed; returns whether all of them were read in time. */
  async refresh(withinMs: number): Promise<boolean> {
    this.#invalidateHosts();
    return await this.cache.refreshAll(withinMs);
  }

  /** What a search in the texts of these documents needs. */
  get searched(): SearchedServer {
    const { server: name, read } = this.#context;
    return {
      name,
      documents: this.shelf.documents.map(({ document }) => document),
      hostsWithoutSearch: this.#hostsWithoutSearch,
      listed: (uri) => {
        const key = documentKey(uri);
        return key === undefined ? undefined : this.summaryOf(key);
      },
      read: async (uri) => readJsonContents((await read(uri)).value),
    };
  }

  /** Why documents are missing, as far as catalogues have said it. */
  get notice(): string | undefined {
    return this.#notices.size === 0
      ? undefined
      : shorten([...this.#notices.values()].join(" "), MAX_NOTICE_LENGTH);
  }

  /** Reads the catalogue of a host for its notice alone, and again when the list has changed meanwhile. */
  async #askWhy(host: string): Promise<void> {
    const asked = this.#asked;
    if (asked.has(host)) return;
    asked.add(host);
    let catalogue: unknown;
    let uris: ReadonlyMap<string, string> | undefined;
    while (uris !== this.#uris && asked === this.#asked) {
      uris = this.#uris;
      catalogue = await this.#context.read(buildDpeUri({ host }))
        .then(({ value }) => readJsonContents(value))
        .catch(() => undefined);
    }
    asked.delete(host);
    if (asked === this.#asked) this.#keepNotice(host, catalogue);
  }

  #keepNotice(host: string, catalogue: unknown): void {
    const notice = isRecord(catalogue) ? catalogue["notice"] : undefined;
    this.#notices.delete(host);
    if (typeof notice !== "string" || this.#notices.size >= MAX_NOTICES) return;
    this.#notices.set(host, shorten(notice, MAX_NOTICE_LENGTH));
  }

  summaryOf(key: string): Summary {
    const listed = this.#uris.get(key);
    return listed === undefined ? undefined : this.cache.get(listed);
  }

  #invalidateHosts(): void {
    if (this.#changedHosts.size === 0) return;
    const prefixes = [...this.#changedHosts];
    this.#changedHosts.clear();
    for (const [key, uri] of this.#uris) {
      if (prefixes.some((prefix) => key.startsWith(prefix))) this.cache.invalidate(uri);
    }
  }

  async #readCatalogues(uris: readonly string[]): Promise<ReadonlyMap<string, ReadValue<Summary>>> {
    const values = new Map<string, ReadValue<Summary>>();
    const hosts = hostsOf(uris);
    await Promise.all(
      hosts.difference(this.#hostsWithoutCatalogue).keys().map((host) => this.#readCatalogue(host, values)),
    );
    return values;
  }

  /**
   * Reads the documents of a host from its catalogue. The catalogue is subscribed to first, so that its summaries can be
   * kept; while the subscription is late, the catalogue is read for each request. Entries that the server does not list
   * are left out. Listed documents without an entry are read at Level 1.
   */
  async #readCatalogue(host: string, values: Map<string, ReadValue<Summary>>): Promise<void> {
    const { read, subscribe, now, log, server } = this.#context;
    const uri = buildDpeUri({ host });
    this.catalogueUris.add(uri);
    const isSubscribed = await settledWithin(subscribe(uri), SUBSCRIPTION_GRACE_MS) === true;
    const readAtMs = now();
    try {
      const { value: contents, freshMs } = await read(uri);
      const catalogue = readJsonContents(contents);
      const entries = entriesOf(catalogue);
      this.#keepNotice(host, catalogue);
      for (let start = 0; start < entries.length; start += CATALOGUE_SLICE) {
        if (start > 0) await delay(0);
        for (const entry of entries.slice(start, start + CATALOGUE_SLICE)) {
          const listed = this.#listedUriOf(entry);
          if (listed === undefined) continue;
          const value = this.#attempt(listed, (origin) => toDocumentSummary(entry, origin));
          values.set(listed, { value, readAtMs, freshMs });
          if (isSubscribed) this.cache.markSubscribed(listed, readAtMs);
        }
      }
    } catch (error) {
      this.#hostsWithoutCatalogue.add(host);
      this.#notices.delete(host);
      log.debug("host has no catalogue; its documents are read one by one", {
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
      const message = "a document of a catalogue is left out: its MCP server does not list it";
      this.#context.warnOnce.warn(message, { server: this.#context.server, uri });
    }
    return listed;
  }

  /** Makes a summary; logs why it cannot be made. */
  #attempt(uri: string, toSummary: (origin: SummaryOrigin) => DPEDocumentSummary): Summary {
    const { server, warnOnce } = this.#context;
    try {
      return toSummary({ uri, server });
    } catch (error) {
      warnOnce.warn("a document is left out of the Finder", { server, uri, error: describeError(error) });
      return undefined;
    }
  }

  #prepare(summary: DPEDocumentSummary): PreparedDocument | undefined {
    const { server, warnOnce } = this.#context;
    return prepareDocument(
      summary,
      ({ code, message, uri }) => warnOnce.warn(message, { server, uri, kind: code }),
    );
  }
}

function hostsOf(uris: Iterable<string>): Set<string> {
  const hosts = new Set<string>();
  for (const uri of uris) {
    const host = tryParseResourceUri(uri)?.host;
    if (host !== undefined) hosts.add(host);
  }
  return hosts;
}

function isHostUri(key: string): boolean {
  return !key.slice("dpe://".length).includes("/");
}

interface SummaryOrigin {
  readonly uri: string;
  readonly server: string;
}

/** The summary in document metadata. Throws when a required member is missing (`docs/protocol/data-structures.md#dpedocumentsummary`). */
function toDocumentSummary(metadata: unknown, origin: SummaryOrigin): DPEDocumentSummary {
  const { pages: _pages, page_offset: _offset, page_limit: _limit, page_total: _total, ...summary } =
    parseDpeDocument(metadata);
  return { ...summary, ...origin };
}

/** The summary in the contents of a Level 1 read. Throws when the contents are not a document. */
export function readDocumentSummary(
  contents: readonly ResourceContents[],
  origin: SummaryOrigin,
): DPEDocumentSummary {
  return toDocumentSummary(readJsonContents(contents), origin);
}

/** The entries of what was read at Level 0. Throws when it is not a catalogue. */
function entriesOf(catalogue: unknown): readonly unknown[] {
  if (isRecord(catalogue) && Array.isArray(catalogue["documents"])) return catalogue["documents"];
  throw new TypeError('Cannot read catalogue: "documents" is missing');
}

function readJsonContents(contents: readonly ResourceContents[]): unknown {
  const text = contents.find((item) => typeof item.text === "string")?.text;
  if (text === undefined) throw new TypeError("Cannot read document: its contents have no text");
  return JSON.parse(text);
}
