/** Notifications on their way to one client. */

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
