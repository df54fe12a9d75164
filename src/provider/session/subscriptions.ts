/** What one client subscribed to. */
import { buildDpeUri, isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { windowIdentity } from "../../uri/window_identity.ts";
import { RpcError, RpcErrorCode } from "./json_rpc.ts";

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
