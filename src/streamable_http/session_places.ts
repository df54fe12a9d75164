/** The places for sessions that all paths of an MCP server share. */

export const DEFAULT_MAX_SESSIONS = 200;
/** How long a session without a request or a stream is kept by default, in milliseconds. */
export const DEFAULT_IDLE_MS = 30 * 60_000;

export interface PlacedSession {
  end(): Promise<void>;
}

/** A bounded number of places. When all are taken, the session that rests longest ends for a new one. */
export class SessionPlaces {
  readonly #max: number;
  /** The sessions without a request or a stream, the one that rests longest first. */
  readonly #resting = new Set<PlacedSession>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place. `false` when all sessions are busy. */
  async take(): Promise<boolean> {
    while (this.#taken >= this.#max) {
      const [longest] = this.#resting;
      if (longest === undefined) return false;
      this.#resting.delete(longest);
      await longest.end();
    }
    this.#taken++;
    return true;
  }

  use(session: PlacedSession): void {
    this.#resting.delete(session);
  }

  rest(session: PlacedSession): void {
    this.#resting.add(session);
  }

  free(session: PlacedSession): void {
    this.#resting.delete(session);
    this.#taken--;
  }
}
