/** One client: what it subscribed to, and what it is told. */
import { type Notification, Outbox } from "./outbox.ts";
import { Subscriptions } from "./subscriptions.ts";

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
