/** What an MCP server tells unasked, at a bounded pace: a storm is heard once a second. */
import type { Logger } from "../log.ts";
import { isRecord } from "../protocol/errors.ts";
import type { Journal } from "./journal.ts";
import { MAX_HELD_URI_LENGTH, MAX_HELD_URIS } from "./limits.ts";

const INTERVAL_MS = 1_000;

/** What an MCP server may tell at any time. */
export interface NotificationListener {
  onToolsChanged(): void;
  onResourcesChanged(): void;
  onResourceUpdated(uri: string): void;
  /** Any of this may have been told while nobody could hear it. */
  onNotificationsLost(): void;
}

/** What calming needs. */
export interface CalmListenerContext {
  readonly listener: NotificationListener;
  readonly maxPerSecond: number;
  readonly log: Logger;
}

/**
 * Passes notifications on. Those above the bound are heard when the second is over, each kind and each URI once; of
 * too many URIs it is told that notifications were lost, so that everything is looked at anew.
 */
export class CalmListener implements NotificationListener, Disposable {
  readonly #context: CalmListenerContext;
  readonly #uris = new Set<string>();
  #hasMoreUris = false;
  #toolsChanged = false;
  #resourcesChanged = false;
  #passed = 0;
  #held = 0;
  #wasStorm = false;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(context: CalmListenerContext) {
    this.#context = context;
  }

  onToolsChanged(): void {
    if (this.#passes()) this.#context.listener.onToolsChanged();
    else this.#toolsChanged = true;
  }

  onResourcesChanged(): void {
    if (this.#passes()) this.#context.listener.onResourcesChanged();
    else this.#resourcesChanged = true;
  }

  onResourceUpdated(uri: string): void {
    if (this.#passes()) return this.#context.listener.onResourceUpdated(uri);
    if (this.#uris.size < MAX_HELD_URIS && uri.length <= MAX_HELD_URI_LENGTH) this.#uris.add(uri);
    else this.#hasMoreUris = true;
  }

  onNotificationsLost(): void {
    if (this.#passes()) this.#context.listener.onNotificationsLost();
    else this.#hasMoreUris = true;
  }

  /** Drops what is held back, and whatever comes from now on: the session is over. Idempotent. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #passes(): boolean {
    if (this.#isOver) return false;
    this.#timer ??= setTimeout(() => this.#endInterval(), INTERVAL_MS);
    if (this.#passed < this.#context.maxPerSecond) {
      this.#passed++;
      return true;
    }
    this.#held++;
    return false;
  }

  #endInterval(): void {
    this.#timer = undefined;
    this.#passed = 0;
    const held = this.#held;
    this.#held = 0;
    if (held > 0 && !this.#wasStorm) {
      const message = "the MCP server tells of more changes than are heard; they are heard once a second";
      this.#context.log.warn(message, { held });
    }
    this.#wasStorm = held > 0;
    if (held > 0) this.#hear();
  }

  #hear(): void {
    const { listener } = this.#context;
    const uris = [...this.#uris];
    const [hasMoreUris, toolsChanged, resourcesChanged] = [
      this.#hasMoreUris,
      this.#toolsChanged,
      this.#resourcesChanged,
    ];
    this.#uris.clear();
    this.#hasMoreUris = this.#toolsChanged = this.#resourcesChanged = false;
    // It counts in the new interval, too: the next ones wait for its end.
    this.#timer = setTimeout(() => this.#endInterval(), INTERVAL_MS);
    if (toolsChanged) listener.onToolsChanged();
    if (hasMoreUris) return listener.onNotificationsLost();
    if (resourcesChanged) listener.onResourcesChanged();
    for (const uri of uris) listener.onResourceUpdated(uri);
  }
}

/** Tells of a notification, if it is one that somebody hears. */
export function readNotification(
  { method, params }: { readonly method: string; readonly params?: unknown },
  { listener, journal }: { readonly listener: NotificationListener; readonly journal: Journal },
): "known" | "unknown" {
  switch (method) {
    case "notifications/message":
      journal.message(params);
      return "known";
    case "notifications/tools/list_changed":
      listener.onToolsChanged();
      return "known";
    case "notifications/resources/list_changed":
      listener.onResourcesChanged();
      return "known";
    case "notifications/resources/updated": {
      const uri = isRecord(params) ? params["uri"] : undefined;
      if (typeof uri === "string") listener.onResourceUpdated(uri);
      return "known";
    }
    default:
      return "unknown";
  }
}
