/** One Finder request: counting what matches, and ordering no more than its page (`docs/protocol/finder.md#organizing`). */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { BestFirst } from "./best_first.ts";
import type { FinderQuery } from "./finder_query.ts";
import type { RankedDocument } from "./prepared_document.ts";
import { orderServers } from "./server_order.ts";

/** A page of the catalogue. */
export interface FinderPage {
  /** The documents of the page, as they were given. */
  readonly documents: DPEDocumentSummary[];
  /** All documents that match, on the page or not. */
  readonly totalCount: number;
}

/** Takes the matching documents in the order of their listing, then tells the page. */
export class FinderSelection {
  readonly #query: FinderQuery;
  /** No server contributes more documents than the page's end; nothing is kept for an empty page. */
  readonly #capacity: number;
  readonly #servers = new Map<string, BestFirst<DPEDocumentSummary>>();

  constructor(query: FinderQuery) {
    this.#query = query;
    this.#capacity = query.limit === 0 ? 0 : query.offset + query.limit;
  }

  /** Counts a matching document, and keeps it as long as it may stand on the page. */
  add({ document, server, instant }: RankedDocument): void {
    let best = this.#servers.get(server);
    if (best === undefined) {
      best = new BestFirst(this.#capacity);
      this.#servers.set(server, best);
    }
    best.offer(document, instant);
  }

  /** The page over all documents added so far. */
  page(): FinderPage {
    const { history, offset, limit } = this.#query;
    const documents: DPEDocumentSummary[] = [];
    let totalCount = 0;
    for (const server of orderServers(this.#servers.keys(), history)) {
      const best = this.#servers.get(server);
      if (best === undefined) continue;
      const skipped = Math.max(0, offset - totalCount);
      totalCount += best.offered;
      if (documents.length < limit && skipped < best.offered) {
        documents.push(...best.list().slice(skipped, skipped + limit - documents.length));
      }
    }
    return { documents, totalCount };
  }
}
