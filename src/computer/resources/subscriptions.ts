/** The resource subscriptions of one session with an MCP server, in step with what it lists. */
import { forEachBounded } from "../../async/pool.ts";
import type { Logger } from "../../log.ts";
import type { RequestLimits } from "../../mcp/connection.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import { describeError } from "../../text.ts";

/** What subscribing needs. */
export interface SubscriptionsContext {
  readonly server: SupervisedServer;
  readonly limits: RequestLimits;
  /** How many requests are under way at a time. */
  readonly concurrency: number;
  readonly log: Logger;
  /** The server tells of changes to this URI from now on. */
  readonly onSubscribed: (uri: string) => void;
}

/** Subscribes to what comes, lets go of what goes; each URI once a session. */
export class Subscriptions {
  readonly #context: SubscriptionsContext;
  /** By URI, whether the server agreed. */
  #session = new Map<string, Promise<boolean>>();

  constructor(context: SubscriptionsContext) {
    this.#context = context;
  }

  /** A new session: nothing is subscribed. */
  reset(): void {
    this.#session = new Map();
  }

  /** Subscribes to one URI now, unless it is; tells whether the server agreed. Never rejects. */
  subscribe(uri: string): Promise<boolean> {
    const session = this.#session;
    let agreed = session.get(uri);
    if (agreed === undefined) {
      agreed = this.#subscribe(uri, session);
      session.set(uri, agreed);
    }
    return agreed;
  }

  /** Subscribes to one URI now, unless it is; rejects where the server does not agree. */
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

  /** Lets go of one URI. Never rejects. */
  async release(uri: string): Promise<void> {
    const { server, limits } = this.#context;
    if (!this.#session.delete(uri)) return;
    await server.use((connection) => connection.unsubscribe(uri, limits)).catch(() => {});
  }

  /** Brings the subscriptions in step with `wanted`, a few at a time; those in `kept` stay as they are. Never rejects. */
  async follow(wanted: ReadonlySet<string>, kept: ReadonlySet<string>): Promise<void> {
    const { server, limits, concurrency } = this.#context;
    const session = this.#session;
    const known = new Set(session.keys());
    const gone = known.difference(wanted).difference(kept);
    for (const uri of gone) session.delete(uri);
    await forEachBounded(wanted.difference(known), concurrency, async (uri) => {
      if (session === this.#session) await this.subscribe(uri);
    });
    // A later list may have taken one back before its turn came.
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
      log.debug("not subscribed, so it is read anew for each request", {
        server: server.name,
        uri,
        error: describeError(error),
      });
      return false;
    }
  }

  /** Tells whether the subscription still holds when the server has agreed: it may have been let go meanwhile. */
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
