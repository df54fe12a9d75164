/** Throttles the notifications of an MCP server: those beyond a rate are passed on together, once per second. */
import type { Logger } from "../log.ts";
import { isRecord } from "../json.ts";
import type { Journal } from "./journal.ts";
import { MAX_HELD_URI_LENGTH, MAX_HELD_URIS } from "./limits.ts";

const INTERVAL_MS = 1_000;

export interface NotificationListener {
  onToolsChanged(): void;
  onResourcesChanged(): void;
  onResourceUpdated(uri: string): void;
  onPromptsChanged(): void;
  /** Notifications of any kind may have been lost. */
  onNotificationsLost(): void;
}

export interface ThrottledListenerContext {
  readonly listener: NotificationListener;
  readonly maxPerSecond: number;
  readonly log: Logger;
}

/**
 * Passes notifications on. Those beyond `maxPerSecond` are passed on at the end of the second, each kind and each URI
 * once. If there are too many URIs, it calls `onNotificationsLost` once instead.
 */
export class ThrottledListener implements NotificationListener, Disposable {
  readonly #context: ThrottledListenerContext;
  readonly #uris = new Set<string>();
  #hasMoreUris = false;
  #toolsChanged = false;
  #resourcesChanged = false;
  #promptsChanged = false;
  #passed = 0;
  #held = 0;
  #wasThrottled = false;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(context: ThrottledListenerContext) {
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

  onPromptsChanged(): void {
    if (this.#passes()) this.#context.listener.onPromptsChanged();
    else this.#promptsChanged = true;
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

  /** Drops delayed and later notifications, since the session is over. Idempotent. */
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
    if (held > 0 && !this.#wasThrottled) {
      const message = "MCP server sends too many notifications: handling them once per second";
      this.#context.log.warn(message, { held });
    }
    this.#wasThrottled = held > 0;
    if (held > 0) this.#passOn();
  }

  #passOn(): void {
    const { listener } = this.#context;
    const uris = [...this.#uris];
    const [hasMoreUris, toolsChanged, resourcesChanged, promptsChanged] = [
      this.#hasMoreUris,
      this.#toolsChanged,
      this.#resourcesChanged,
      this.#promptsChanged,
    ];
    this.#uris.clear();
    this.#hasMoreUris =
      this.#toolsChanged =
      this.#resourcesChanged =
      this.#promptsChanged =
        false;
    // Begins a new interval, so that further notifications wait for its end.
    this.#timer = setTimeout(() => this.#endInterval(), INTERVAL_MS);
    if (toolsChanged) listener.onToolsChanged();
    if (promptsChanged) listener.onPromptsChanged();
    if (hasMoreUris) return listener.onNotificationsLost();
    if (resourcesChanged) listener.onResourcesChanged();
    for (const uri of uris) listener.onResourceUpdated(uri);
  }
}

/** What receives the notifications of a session. */
export interface NotificationReceivers {
  readonly listener: NotificationListener;
  readonly journal: Journal;
  /** Receives the parameters of progress notifications. */
  readonly progress: { receive(params: unknown): void };
  /** Receives the parameters of changes of tasks. */
  readonly tasks: { onStatus(params: unknown): void };
}

/** Passes a notification to its receiver; unknown ones are dropped. */
export function readNotification(
  { method, params }: { readonly method: string; readonly params?: unknown },
  { listener, journal, progress, tasks }: NotificationReceivers,
): void {
  switch (method) {
    case "notifications/progress":
      return progress.receive(params);
    case "notifications/tasks/status":
      return tasks.onStatus(params);
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
