/** One client: what it subscribed to, and what it is told. */
import { buildDpeUri, isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { windowIdentity } from "../../uri/window_uri.ts";
import { RpcError, RpcErrorCode } from "./json_rpc.ts";

/** The way to the client. */
export interface SessionWire {
  send(notification: Notification): Promise<void>;
  /** Of what could not be sent. */
  report(error: unknown): void;
}

/** A connection of one of the attached servers, from its first message to its last. */
export class Session {
  readonly subscriptions = new Subscriptions();
  readonly #outbox: Outbox;
  #isInitialized = false;

  constructor(wire: SessionWire) {
    this.#outbox = new Outbox((notification) => wire.send(notification), (error) => wire.report(error));
  }

  /** Before that, a server may not send notifications. */
  markInitialized(): void {
    this.#isInitialized = true;
  }

  /** Tells that the list of resources is another. */
  tellListChanged(): void {
    if (this.#isInitialized) this.#outbox.post({ method: "notifications/resources/list_changed" });
  }

  /** Tells of a topic under each spelling that the client subscribed to. */
  tellUpdated(topic: string): void {
    for (const uri of this.subscriptions.of(topic)) this.#tell(uri);
  }

  /**
   * Tells that a document changed: under what of it the client subscribed to, and under its own URI to who
   * subscribed to the catalogue that it stands in (MCP: the URI "might be a sub-resource of the one that the client
   * actually subscribed to").
   */
  tellDocumentUpdated(
    { document, catalogue }: { readonly document: string; readonly catalogue: string },
  ): void {
    this.tellUpdated(document);
    const { subscriptions } = this;
    if (subscriptions.of(catalogue).size > 0 && !subscriptions.of(document).has(document)) {
      this.#tell(document);
    }
  }

  /** Nothing is told any more. */
  close(): void {
    this.#outbox.close();
  }

  #tell(uri: string): void {
    this.#outbox.post({ method: "notifications/resources/updated", params: { uri } });
  }
}

/** A notification as MCP writes it. */
export interface Notification {
  readonly method: string;
  readonly params?: { readonly uri: string };
}

/**
 * Sends notifications one after the other. One that still waits is not queued again, so however fast things change,
 * what waits is bounded by what the client subscribed to, and the client hears of each last change.
 */
export class Outbox {
  readonly #send: (notification: Notification) => Promise<void>;
  readonly #report: (error: unknown) => void;
  readonly #waiting = new Map<string, Notification>();
  #isSending = false;
  #isClosed = false;

  /** `report` is told of what could not be sent. */
  constructor(send: (notification: Notification) => Promise<void>, report: (error: unknown) => void) {
    this.#send = send;
    this.#report = report;
  }

  /** Sends a notification soon. */
  post(notification: Notification): void {
    if (this.#isClosed) return;
    this.#waiting.set(`${notification.method} ${notification.params?.uri ?? ""}`, notification);
    if (!this.#isSending) this.#drain().catch(this.#report);
  }

  /** Forgets what waits and takes nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  async #drain(): Promise<void> {
    this.#isSending = true;
    try {
      // What one piece of code changes in a row is told once.
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

/** URIs as the client spelled them, found by what they are about. */
export class Subscriptions {
  readonly #urisByTopic = new Map<string, Set<string>>();
  #size = 0;

  /** Throws -32600 when there are {@linkcode MAX_SUBSCRIPTIONS} already. */
  add(uri: string): void {
    const topic = topicOf(uri);
    const uris = this.#urisByTopic.get(topic) ?? new Set();
    if (uris.has(uri)) return;
    if (this.#size === MAX_SUBSCRIPTIONS) {
      throw new RpcError(RpcErrorCode.INVALID_REQUEST, `Too many subscriptions: ${MAX_SUBSCRIPTIONS}`);
    }
    this.#urisByTopic.set(topic, uris.add(uri));
    this.#size++;
  }

  /** Does nothing for a URI that was not subscribed to. */
  delete(uri: string): void {
    const topic = topicOf(uri);
    const uris = this.#urisByTopic.get(topic);
    if (uris?.delete(uri) !== true) return;
    this.#size--;
    if (uris.size === 0) this.#urisByTopic.delete(topic);
  }

  /** The spellings under which the client subscribed to a topic. */
  of(topic: string): ReadonlySet<string> {
    return this.#urisByTopic.get(topic) ?? NONE;
  }
}

/**
 * What a URI is about: a window under any spelling is one topic, and a document is one topic with its pages, its
 * elements and whatever its query asks for; the catalogue of a host is a topic of its own.
 */
export function topicOf(uri: string): string {
  const window = windowIdentity(uri);
  if (window !== undefined) return window;
  if (!isValidDpeUri(uri)) return uri;
  const { host, docRef } = parseDpeUri(uri);
  return buildDpeUri({ host, docRef });
}
