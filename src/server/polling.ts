/** A bound on the packets of one polling answer, which Engine.IO lacks. */
import { MAX_POLLING_PACKETS } from "./limits.ts";

/** As much of an Engine.IO connection as this needs. */
export interface PollingConnection {
  readonly readyState: string;
  readonly transport: { readonly name: string };
  on(event: "flush", listener: (packets: unknown[]) => void): unknown;
  on(event: "drain", listener: () => void): unknown;
}

/**
 * Keeps each polling answer of a connection at {@linkcode MAX_POLLING_PACKETS} packets; the rest stays first in the queue
 * and goes with the next answers. A connection that is being closed sends all at once, since no further answer comes.
 */
export function boundPollingAnswers(connection: PollingConnection): void {
  if (connection.transport.name !== "polling") return;
  let rest: unknown[] = [];
  connection.on("flush", (packets) => {
    if (connection.transport.name !== "polling" || connection.readyState !== "open") return;
    rest = packets.splice(MAX_POLLING_PACKETS);
  });
  // Engine.IO has begun a new queue by now, and tells of the next poll only later.
  connection.on("drain", () => {
    if (rest.length === 0) return;
    queueOf(connection).unshift(...rest);
    rest = [];
  });
}

/** Engine.IO's own queue, to which its types give no access. */
function queueOf(connection: PollingConnection): unknown[] {
  const queue: unknown = Reflect.get(connection, "writeBuffer");
  if (Array.isArray(queue)) return queue;
  throw new TypeError("Cannot keep packets for the next polling answer: Engine.IO has no write buffer");
}
