/** Bounds the packets of a polling answer and of a polling body, which Engine.IO does not. */
import { costOfTexts, MAX_COST_PER_BYTE } from "../../protocol/json_cost.ts";
import { MAX_POLLING_PACKETS, MAX_POSTED_PACKETS, maxValuesFor } from "../limits.ts";

/** The members of an Engine.IO connection that are used here. */
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
 * Limits each polling answer of a connection to {@linkcode MAX_POLLING_PACKETS} packets; the rest stays first in the queue
 * for the next answers. A connection that is closing sends all packets, since there is no further answer.
 */
export function boundPollingAnswers(connection: PollingConnection): void {
  if (connection.transport.name !== "polling") return;
  let rest: unknown[] = [];
  const onFlush = (packets: unknown[]) => {
    if (connection.readyState === "open") rest = packets.splice(MAX_POLLING_PACKETS);
  };
  // Engine.IO has a new queue by now, and handles the next poll later.
  const onDrain = () => {
    if (rest.length > 0) queueOf(connection).unshift(...rest);
    rest = [];
  };
  connection.on("flush", onFlush);
  connection.on("drain", onDrain);
  // The rest is sent over the WebSocket.
  connection.once("upgrade", () => {
    connection.off("flush", onFlush);
    connection.off("drain", onDrain);
  });
}

/** Private member of Engine.IO: the queue of a connection. */
function queueOf(connection: PollingConnection): unknown[] {
  const queue: unknown = Reflect.get(connection, "writeBuffer");
  if (Array.isArray(queue)) return queue;
  throw new TypeError("Cannot keep packets for the next polling answer: Engine.IO has no write buffer");
}

/**
 * Closes a connection that posts more than {@linkcode MAX_POSTED_PACKETS} packets in one body, or packets with more values
 * than one message may have. Engine.IO parses all packets of a body, up to eight million, before it handles the first.
 */
export function boundPollingBodies(
  connection: Pick<PollingConnection, "transport"> & { close(discard: boolean): unknown },
  { maxPayloadBytes, onRefused }: {
    readonly maxPayloadBytes: number;
    /** Called before the connection is closed, with the length of the body in characters. */
    readonly onRefused: (length: number) => void;
  },
): void {
  const { transport } = connection;
  if (transport.name !== "polling") return;
  const onData: unknown = Reflect.get(transport, "onData");
  if (typeof onData !== "function") {
    throw new TypeError("Cannot count the packets of polling bodies: Engine.IO has no onData");
  }
  const maxValues = maxValuesFor(maxPayloadBytes);
  Reflect.set(transport, "onData", (body: unknown) => {
    if (typeof body !== "string" || !costsTooMuch(body, maxValues)) {
      return void Reflect.apply(onData, transport, [body]);
    }
    onRefused(body.length);
    connection.close(true);
  });
}

const SEPARATOR = "\x1e";

function costsTooMuch(body: string, maxValues: number): boolean {
  let count = 1;
  for (let at = body.indexOf(SEPARATOR); at >= 0; at = body.indexOf(SEPARATOR, at + 1)) {
    if (++count > MAX_POSTED_PACKETS) return true;
  }
  // The parser weighs a single packet.
  if (count === 1 || body.length * MAX_COST_PER_BYTE <= maxValues) return false;
  try {
    return costOfTexts(body.split(SEPARATOR), maxValues) > maxValues;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}
