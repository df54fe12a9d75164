/** Socket.IO's parser with bounds that it lacks. */
import { Decoder, Encoder, type Packet } from "socket.io-parser";
import { MAX_ARGUMENTS } from "./limits.ts";

/**
 * What the Server's `parser` option takes. Its decoder throws, which closes the connection as any malformed packet does,
 * for a packet of more than {@linkcode MAX_ARGUMENTS} arguments, and for one whose attachments have more bytes in all
 * than one message may have.
 */
export function createBoundedParser(maxPayloadBytes: number): {
  readonly Encoder: typeof Encoder;
  readonly Decoder: new () => Decoder;
} {
  return {
    Encoder,
    Decoder: class extends BoundedDecoder {
      constructor() {
        super(maxPayloadBytes);
      }
    },
  };
}

class BoundedDecoder extends Decoder {
  readonly #maxAttachmentBytes: number;
  /** Of the packet whose attachments are coming in. */
  #attachmentBytes = 0;

  constructor(maxAttachmentBytes: number) {
    super();
    this.#maxAttachmentBytes = maxAttachmentBytes;
    // Socket.IO's own listener comes after this one, and is not called when it throws.
    this.on("decoded", ({ data }: Packet) => {
      this.#attachmentBytes = 0;
      if (Array.isArray(data) && data.length > MAX_ARGUMENTS) throw new RangeError("Too many arguments");
    });
  }

  override add(part: unknown): void {
    if (typeof part !== "string") this.#countAttachment(part);
    super.add(part);
  }

  #countAttachment(part: unknown): void {
    if (part instanceof Uint8Array) this.#attachmentBytes += part.byteLength;
    if (this.#attachmentBytes > this.#maxAttachmentBytes) throw new RangeError("Attachments too large");
  }
}
