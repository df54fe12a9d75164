/** Socket.IO's parser with a bound that it lacks. */
import { Decoder, Encoder, type Packet } from "socket.io-parser";
import { MAX_ARGUMENTS } from "./limits.ts";

/** Closes a connection, as any malformed packet does, for a packet of more than {@linkcode MAX_ARGUMENTS} arguments. */
class BoundedDecoder extends Decoder {
  constructor() {
    super();
    // Socket.IO's own listener comes after this one, and is not called when it throws.
    this.on("decoded", ({ data }: Packet) => {
      if (Array.isArray(data) && data.length > MAX_ARGUMENTS) throw new RangeError("Too many arguments");
    });
  }
}

/** What the Server's `parser` option takes. */
export const boundedParser = { Encoder, Decoder: BoundedDecoder };
