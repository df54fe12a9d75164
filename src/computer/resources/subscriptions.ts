/** The subscriptions to the resources of one MCP server, for one session at a time. */
import { forEachBounded } from "../../async/limiter.ts";
import type { Logger } from "../../log.ts";
import type { RequestLimits } from "../../mcp/call_options.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { describeError } from "../../text/text.ts";

export interface SubscriptionsContext {
  readonly server: SupervisedServer;
  readonly limits: RequestLimits;
  readonly concurrency: number;
  readonly log: Logger;
  readonly onSubscribed: (uri: string) => void;
}

/** Subscribes to each wanted URI once per session, and unsubscribes from the others. */
export class Subscriptions {
  readonly #context: SubscriptionsContext;
  /** Whether the server agreed, by URI. */
  #session = new Map<string, Promise<boolean>>();

  constructor(context: SubscriptionsContext) {
    this.#context = context;
  }

  /** Starts a new session, without subscriptions. */
  reset(): void {
    this.#session = new Map();
  }

  /** Subscribes to a URI, unless it is subscribed; resolves to whether the server agreed. Never rejects. */
  subscribe(uri: string): Promise<boolean> {
    const session = this.#session;
    let agreed = session.get(uri);
    if (agreed === undefined) {
      agreed = this.#subscribe(uri, session);
      session.set(uri, agreed);
    }
    return agreed;
  }

  /** Subscribes to a URI, unless it is subscribed; rejects when the server refuses. */
  async insist(uri: string, limits: RequestLimits): Promise<void> {
    const session = this.#session;
    if (await session.get(uri) === true) return;
    const asked = this.#ask(uri, { session, limits });
    session.set(uri, asked.then(() => true, () => false));
    try {
      await asked;
    } catch (error) {
      session.delete(uri);
      throw error;
    }
  }

  /** Unsubscribes from a URI. Never rejects. */
  async release(uri: string): Promise<void> {
    const { server, limits } = this.#context;
    if (!this.#session.delete(uri)) return;
    await server.use((connection) => connection.unsubscribe(uri, limits)).catch(() => {});
  }

  /** Subscribes to all of `wanted` and unsubscribes from all others, except from those in `kept`. Never rejects. */
  async follow(wanted: ReadonlySet<string>, kept: ReadonlySet<string>): Promise<void> {
    const { server, limits, concurrency } = this.#context;
    const session = this.#session;
    const known = new Set(session.keys());
    const gone = known.difference(wanted).difference(kept);
    for (const uri of gone) session.delete(uri);
    const width = server.connection?.subscribesTogether === true ? Math.max(1, wanted.size) : concurrency;
    await forEachBounded(wanted.difference(known), width, async (uri) => {
      if (session === this.#session) await this.subscribe(uri);
    });
    // A later list may have subscribed to the URI again.
    await forEachBounded(gone, concurrency, async (uri) => {
      if (session !== this.#session || session.has(uri)) return;
      await server.use((connection) => connection.unsubscribe(uri, limits)).catch(() => {});
    });
  }

  async #subscribe(uri: string, session: Map<string, Promise<boolean>>): Promise<boolean> {
    const { server, limits, log } = this.#context;
    try {
      return await this.#ask(uri, { session, limits });
    } catch (error) {
      log.debug("resource is not subscribed; it is read for each request", {
        server: server.name,
        uri,
        error: describeError(error),
      });
      return false;
    }
  }

  /** Resolves to whether the URI is still wanted when the server has agreed. */
  async #ask(
    uri: string,
    { session, limits }: { readonly session: Map<string, Promise<boolean>>; readonly limits: RequestLimits },
  ): Promise<boolean> {
    const { server, onSubscribed } = this.#context;
    await server.use((connection) => connection.subscribe(uri, limits));
    if (session !== this.#session || !session.has(uri)) return false;
    onSubscribed(uri);
    return true;
  }
}
