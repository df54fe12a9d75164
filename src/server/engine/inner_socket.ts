/**
 * The way of a member in the Server's own process: a WebSocket to the member, and the transport of its session, with nothing in
 * between. What one side sends reaches the other one in a microtask, so that neither runs within the other.
 */
import { Buffer } from "node:buffer";
import { toText } from "./polling.ts";
import type { EngineSession, SessionContext, Transport } from "./session.ts";

export class InnerSocket implements Transport {
  readonly name = "memory";
  readonly #session: EngineSession;
  readonly #meter: SessionContext["meter"];
  #isFlushing = false;
  #isClosing = false;
  #isEnded = false;
  onopen: (() => void) | undefined;
  onmessage: ((event: { readonly data: string }) => void) | undefined;
  onclose: ((event: unknown) => void) | undefined;

  constructor(session: EngineSession, { meter }: Pick<SessionContext, "meter">) {
    this.#session = session;
    this.#meter = meter;
    queueMicrotask(() => this.onopen?.());
  }

  /** The member sends a packet. */
  send(packet: string): void {
    queueMicrotask(() => {
      if (this.#isEnded) return;
      this.#meter?.received(Buffer.byteLength(packet));
      this.#session.onRead();
      this.#session.onText(packet);
    });
  }

  /** Sends what waits, and ends; the member calls it as well. */
  close(): void {
    this.#isClosing = true;
    this.flush();
  }

  flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  end(): void {
    this.close();
  }

  destroy(): void {
    queueMicrotask(() => this.#end());
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#isEnded) return;
    const { outbox } = this.#session;
    const { messages, bytes } = outbox.take(outbox.messages.length);
    for (const message of messages) {
      const data = toText(message);
      this.#meter?.sent(Buffer.byteLength(data));
      this.onmessage?.({ data });
    }
    outbox.release(bytes);
    if (this.#isClosing) this.#end();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.onclose?.(undefined);
    this.#session.onGone();
  }
}
