/** A console as a program sees it: its link, its API and its events. */
import { within } from "../fixtures/within.ts";

export interface ApiReply {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- a test reads the members that it knows
  readonly body: any;
}

/** An event of the stream. */
export interface ToldEvent {
  readonly event: string;
  readonly data: unknown;
}

/** The API of one console. */
export class ConsoleClient {
  readonly origin: string;
  readonly token: string;

  /** @param link As the console prints it. */
  constructor(link: string) {
    const { origin, hash } = new URL(link);
    this.origin = origin;
    this.token = hash.slice(1);
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  get authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.token}` };
  }

  get(path: string): Promise<ApiReply> {
    return this.#send(path, { headers: this.authorization });
  }

  post(path: string, body: unknown = {}): Promise<ApiReply> {
    const headers = { ...this.authorization, "content-type": "application/json" };
    return this.#send(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** Follows the events from now on. */
  async follow(): Promise<ToldEvents> {
    const aborted = new AbortController();
    const response = await within(
      fetch(`${this.origin}/api/events`, {
        headers: this.authorization,
        signal: aborted.signal,
      }),
      "the head of the stream of events",
    );
    if (response.body === null || !response.ok) throw new TypeError(`No events: ${await response.text()}`);
    return new ToldEvents(response.body, aborted);
  }

  async #send(path: string, init: RequestInit): Promise<ApiReply> {
    const response = await within(fetch(`${this.origin}${path}`, init), `an answer of ${path}`);
    return { status: response.status, headers: response.headers, body: await response.json() };
  }
}

/** The events of a stream, one after another. */
export class ToldEvents implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #aborted: AbortController;
  #rest = "";

  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, aborted: AbortController) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    this.#aborted = aborted;
  }

  /** The next event; comments are passed over. */
  async next(): Promise<ToldEvent> {
    while (true) {
      const cut = this.#rest.indexOf("\n\n");
      if (cut >= 0) {
        const block = this.#rest.slice(0, cut);
        this.#rest = this.#rest.slice(cut + 2);
        if (!block.startsWith(":")) return readEvent(block);
        continue;
      }
      const { value, done } = await within(this.#reader.read(), "the next event");
      if (done) throw new TypeError("The stream of events has ended");
      this.#rest += value;
    }
  }

  /** The next event of this name. */
  async nextOf(event: string): Promise<ToldEvent> {
    while (true) {
      const told = await this.next();
      if (told.event === event) return told;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#aborted.abort();
    await this.#reader.cancel().catch(() => {});
  }
}

function readEvent(block: string): ToldEvent {
  const fields = Object.fromEntries(
    block.split("\n").map((line) => {
      const cut = line.indexOf(": ");
      return [line.slice(0, cut), line.slice(cut + 2)];
    }),
  );
  return { event: fields["event"] ?? "", data: JSON.parse(fields["data"] ?? "null") };
}
