/** A bound on the packets of one polling answer, which Engine.IO lacks. */
import { MAX_POLLING_PACKETS } from "./limits.ts";

/** As much of an Engine.IO connection as this needs. */
export interface PollingConnection {
  readonly readyState: string;
  readonly transport: { readonly name: string };
  on(event: "flush", listener: (packets: unknown[]) => void): unknown;
  on(event: "drain", listener: () => void): unknown;
  once(event: "upgrade", listener: () => void): unknown;
  off(event: "flush", listener: (packets: unknown[]) => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

/**
 * Keeps each polling answer of a connection at {@linkcode MAX_POLLING_PACKETS} packets; the rest stays first in the queue
 * and goes with the next answers. A connection that is being closed sends all at once, since no further answer comes.
 */
export function boundPollingAnswers(connection: PollingConnection): void {
  if (connection.transport.name !== "polling") return;
  let rest: unknown[] = [];
  const onFlush = (packets: unknown[]) => {
    if (connection.readyState === "open") rest = packets.splice(MAX_POLLING_PACKETS);
  };
  // Engine.IO has begun a new queue by now, and tells of the next poll only later.
  const onDrain = () => {
    if (rest.length > 0) queueOf(connection).unshift(...rest);
    rest = [];
  };
  connection.on("flush", onFlush);
  connection.on("drain", onDrain);
  // What is left then goes over the websocket.
  connection.once("upgrade", () => {
    connection.off("flush", onFlush);
    connection.off("drain", onDrain);
  });
}

/** Engine.IO's own queue, to which its types give no access. */
function queueOf(connection: PollingConnection): unknown[] {
  const queue: unknown = Reflect.get(connection, "writeBuffer");
  if (Array.isArray(queue)) return queue;
  throw new TypeError("Cannot keep packets for the next polling answer: Engine.IO has no write buffer");
}
