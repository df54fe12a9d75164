/** What a link tells its owner, for tests to wait for. */
import type { ConnectionEnd, IncomingEvent } from "../../src/link/connect.ts";
import { Link, type LinkListener, type LinkOptions } from "../../src/link/link.ts";

/** What a link told its owner, and waiting for the next of it. */
export class Diary implements LinkListener {
  readonly lost: string[] = [];
  readonly returned = Promise.withResolvers<void>();
  readonly failed = Promise.withResolvers<Error>();
  readonly events: IncomingEvent[] = [];
  readonly firstEvent = Promise.withResolvers<IncomingEvent>();
  readonly firstLoss = Promise.withResolvers<string>();

  onEvent(incoming: IncomingEvent): void {
    this.events.push(incoming);
    this.firstEvent.resolve(incoming);
  }
  onLost({ reason }: ConnectionEnd): void {
    this.lost.push(reason);
    this.firstLoss.resolve(reason);
  }
  onReturned(): void {
    this.returned.resolve();
  }
  onFailed(error: Error): void {
    this.failed.resolve(error);
  }
}

/** Opens a link, which waits only briefly between its attempts, and its diary. */
export async function openLink(server: { readonly url: string }, options: Partial<LinkOptions> = {}) {
  const diary = new Diary();
  const link = await Link.open({ url: server.url, reconnectDelayMs: 20, rejoinDelayMs: 20, ...options }, {
    listener: diary,
    timeoutMs: 10_000,
  });
  return { link, diary };
}
