/** The notifications of an MCP server: those beyond a rate are passed on together, once per second. */
import { TokenBucket } from "../async/token_bucket.ts";
import type { Logger } from "../log.ts";
import { isRecord } from "../json/json.ts";
import type { Journal } from "./journal.ts";
import { MAX_HELD_URI_LENGTH, MAX_HELD_URIS } from "./limits.ts";
import type { SessionCalls } from "./session_calls.ts";

const INTERVAL_MS = 1_000;

export interface NotificationListener {
  onToolsChanged(): void;
  onResourcesChanged(): void;
  onResourceUpdated(uri: string): void;
  onPromptsChanged(): void;
  /** Notifications of any kind may have been lost. */
  onNotificationsLost(): void;
}

type Kind = Exclude<keyof NotificationListener, "onResourceUpdated">;

export interface BoundedNotificationsContext {
  readonly listener: NotificationListener;
  readonly maxPerSecond: number;
  readonly log: Logger;
}

/**
 * Passes notifications on. Those beyond `maxPerSecond` are passed on a second later, each kind and each URI once. If there
 * are too many URIs, it calls `onNotificationsLost` once instead.
 */
export class BoundedNotifications implements NotificationListener, Disposable {
  readonly #context: BoundedNotificationsContext;
  readonly #bucket: TokenBucket;
  /** What is passed on when the timer ends. */
  readonly #held = new Set<Kind>();
  readonly #heldUris = new Set<string>();
  #heldCount = 0;
  #wasHolding = false;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(context: BoundedNotificationsContext) {
    this.#context = context;
    const { maxPerSecond } = context;
    this.#bucket = new TokenBucket({ burst: maxPerSecond, perSecond: maxPerSecond });
  }

  onToolsChanged(): void {
    this.#pass("onToolsChanged");
  }

  onResourcesChanged(): void {
    this.#pass("onResourcesChanged");
  }

  onPromptsChanged(): void {
    this.#pass("onPromptsChanged");
  }

  onResourceUpdated(uri: string): void {
    if (this.#passes()) return this.#context.listener.onResourceUpdated(uri);
    if (this.#heldUris.size < MAX_HELD_URIS && uri.length <= MAX_HELD_URI_LENGTH) this.#heldUris.add(uri);
    else this.#held.add("onNotificationsLost");
  }

  onNotificationsLost(): void {
    this.#pass("onNotificationsLost");
  }

  /** Drops delayed and later notifications, since the session is over. Idempotent. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #pass(kind: Kind): void {
    if (this.#passes()) this.#context.listener[kind]();
    else this.#held.add(kind);
  }

  #passes(): boolean {
    if (this.#isOver) return false;
    if (this.#bucket.take()) return true;
    this.#timer ??= setTimeout(() => this.#endInterval(), INTERVAL_MS);
    this.#heldCount++;
    return false;
  }

  #endInterval(): void {
    this.#timer = undefined;
    const held = this.#heldCount;
    this.#heldCount = 0;
    if (held > 0 && !this.#wasHolding) {
      const message = "MCP server sends too many notifications: handling them once per second";
      this.#context.log.warn(message, { held });
    }
    this.#wasHolding = held > 0;
    if (held > 0) this.#passOn();
  }

  #passOn(): void {
    const { listener } = this.#context;
    const held = new Set(this.#held);
    const uris = [...this.#heldUris];
    this.#held.clear();
    this.#heldUris.clear();
    // When nothing is held until its end, the next flood is logged again.
    this.#timer = setTimeout(() => this.#endInterval(), INTERVAL_MS);
    for (const kind of ["onToolsChanged", "onPromptsChanged", "onNotificationsLost"] as const) {
      if (held.has(kind)) listener[kind]();
    }
    // Then everything is read again.
    if (held.has("onNotificationsLost")) return;
    if (held.has("onResourcesChanged")) listener.onResourcesChanged();
    for (const uri of uris) listener.onResourceUpdated(uri);
  }
}

/** What receives the notifications of a session. */
export interface NotificationReceivers {
  readonly listener: NotificationListener;
  readonly journal: Journal;
  readonly calls: Pick<SessionCalls, "onProgress">;
}

/** Passes a notification to its receiver; unknown ones are dropped. */
export function readNotification(
  { method, params }: { readonly method: string; readonly params?: unknown },
  { listener, journal, calls }: NotificationReceivers,
): void {
  switch (method) {
    case "notifications/progress":
      return calls.onProgress(params);
    case "notifications/message":
      return journal.message(params);
    case "notifications/tools/list_changed":
      return listener.onToolsChanged();
    case "notifications/prompts/list_changed":
      return listener.onPromptsChanged();
    case "notifications/resources/list_changed":
      return listener.onResourcesChanged();
    case "notifications/resources/updated": {
      const uri = isRecord(params) ? params["uri"] : undefined;
      if (typeof uri === "string") listener.onResourceUpdated(uri);
    }
  }
}
