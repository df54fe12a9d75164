/** Notifications to one client, and what it subscribed to. */
import { buildDpeUri, isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { windowIdentity } from "../../uri/window_uri.ts";
import { RpcError, RpcErrorCode } from "../../protocol/mcp.ts";

/** The connection to the client. */
export interface SessionWire {
  send(notification: Notification): Promise<void>;
  report(error: unknown): void;
}

/** What one client is told of changes. */
export class Session {
  /**
   * What the client subscribed to; `undefined` since 2026-07-28, where the SDK answers `subscriptions/listen`, passes on
   * what each client asked for, and so has to be told everything. It compares URIs as texts.
   */
  readonly subscriptions: ClientSubscriptions | undefined;
  readonly #outbox: Outbox;
  #isInitialized: boolean;

  constructor(wire: SessionWire, { isStateless }: { readonly isStateless: boolean }) {
    this.subscriptions = isStateless ? undefined : new ClientSubscriptions();
    this.#isInitialized = isStateless;
    this.#outbox = new Outbox((notification) => wire.send(notification), (error) => wire.report(error));
  }

  /** Allows notifications: MCP forbids them before the client is initialized. */
  markInitialized(): void {
    this.#isInitialized = true;
  }

  tellListChanged(): void {
    if (this.#isInitialized) this.#outbox.post({ method: "notifications/resources/list_changed" });
  }

  /** Tells that a topic has changed, under each spelling that the client subscribed to. */
  tellUpdated(topic: string): void {
    for (const uri of this.subscriptions?.spellingsOf(topic) ?? [topic]) this.#tell(uri);
  }

  /**
   * Tells that a document has changed, and with it the catalogue of its host: under the URIs of the document that the
   * client subscribed to, or under the document's own URI when it subscribed to the catalogue (MCP: the URI "might be a
   * sub-resource of the one that the client actually subscribed to").
   */
  tellDocumentUpdated(
    { document, catalogue }: { readonly document: string; readonly catalogue: string },
  ): void {
    this.tellUpdated(document);
    const { subscriptions } = this;
    if (subscriptions === undefined) this.tellUpdated(catalogue);
    else if (
      subscriptions.spellingsOf(catalogue).size > 0 && !subscriptions.spellingsOf(document).has(document)
    ) this.#tell(document);
  }

  close(): void {
    this.#outbox.close();
  }

  #tell(uri: string): void {
    this.#outbox.post({ method: "notifications/resources/updated", params: { uri } });
  }
}

export interface Notification {
  readonly method: string;
  readonly params?: { readonly uri: string };
}

/**
 * Sends notifications one by one. A notification that still waits is not queued again. So the number of subscriptions
 * limits the queue, however fast resources change, and the client is notified of the last change of each.
 */
export class Outbox {
  readonly #send: (notification: Notification) => Promise<void>;
  readonly #report: (error: unknown) => void;
  readonly #waiting = new Map<string, Notification>();
  #isSending = false;
  #isClosed = false;

  /** `report` receives each error of `send`. */
  constructor(send: (notification: Notification) => Promise<void>, report: (error: unknown) => void) {
    this.#send = send;
    this.#report = report;
  }

  post(notification: Notification): void {
    if (this.#isClosed) return;
    this.#waiting.set(`${notification.method} ${notification.params?.uri ?? ""}`, notification);
    if (!this.#isSending) this.#drain().catch(this.#report);
  }

  /** Empties the queue, and ignores further notifications. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  async #drain(): Promise<void> {
    this.#isSending = true;
    try {
      // Changes of the same synchronous code become one notification.
      await Promise.resolve();
      for (const [key, notification] of this.#waiting) {
        this.#waiting.delete(key);
        await this.#send(notification).catch(this.#report);
      }
    } finally {
      this.#isSending = false;
    }
  }
}

/** The most URIs that one client may subscribe to. */
export const MAX_SUBSCRIPTIONS = 100_000;

const NONE: ReadonlySet<string> = new Set();

/** The subscribed URIs as the client spelled them, by topic. */
export class ClientSubscriptions {
  readonly #urisByTopic = new Map<string, Set<string>>();
  #size = 0;

  /** Throws -32600 when there are already {@linkcode MAX_SUBSCRIPTIONS}. */
  add(uri: string): void {
    const topic = topicOf(uri);
    const uris = this.#urisByTopic.get(topic) ?? new Set();
    if (uris.has(uri)) return;
    if (this.#size === MAX_SUBSCRIPTIONS) {
      throw new RpcError(
        RpcErrorCode.INVALID_REQUEST,
        `Too many subscriptions: at most ${MAX_SUBSCRIPTIONS} are allowed`,
      );
    }
    this.#urisByTopic.set(topic, uris.add(uri));
    this.#size++;
  }

  /** Removes a URI; does nothing when there is no such subscription. */
  delete(uri: string): void {
    const topic = topicOf(uri);
    const uris = this.#urisByTopic.get(topic);
    if (uris?.delete(uri) !== true) return;
    this.#size--;
    if (uris.size === 0) this.#urisByTopic.delete(topic);
  }

  /** The spellings under which the client subscribed to a topic. */
  spellingsOf(topic: string): ReadonlySet<string> {
    return this.#urisByTopic.get(topic) ?? NONE;
  }
}

/**
 * The topic of a URI. All spellings of a window are one topic. A document is one topic together with its pages, its
 * elements and its queries. The catalogue of a host is a separate topic.
 */
export function topicOf(uri: string): string {
  const window = windowIdentity(uri);
  if (window !== undefined) return window;
  if (!isValidDpeUri(uri)) return uri;
  const { host, docRef } = parseDpeUri(uri);
  return buildDpeUri({ host, docRef });
}
