/** Those who follow what happens somewhere. */

interface ErrorLog {
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Tells each event to all who follow, in the order in which they began to. */
export class Followers<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly #log: ErrorLog;

  /** @param log Is told what a listener throws; the others are told of the event all the same. */
  constructor(log: ErrorLog) {
    this.#log = log;
  }

  /** Whether nobody follows, so that an event need not be made. */
  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Tells this listener from now on, until the disposal. */
  follow(listener: (event: T) => void): Disposable {
    const own = (event: T) => listener(event);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  tell(event: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#log.error("a listener failed", { error: String(error) });
      }
    }
  }
}
