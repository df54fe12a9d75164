/** Polling as the transport of a session: the client asks for packets by GET, and sends its own by POST. */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzip } from "node:zlib";
import { costOfTexts, MAX_COST_PER_BYTE } from "../../json/cost.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { optionLabel } from "../options/checks.ts";
import { Holding, noMemory } from "./budget.ts";
import { giveBuffer, growBuffer } from "./buffers.ts";
import { maxValuesFor } from "./packets.ts";
import { CONSTANTS } from "../options/constants.ts";
import { isFrame, type Outgoing, payloadOf } from "./frame_writer.ts";
import { EnginePacketType, type EngineSession, type SessionContext, type Transport } from "./session.ts";
import type { Expirable, Scheduled, Timeouts } from "../../async/timeouts.ts";

const SEPARATOR = "\x1e";
/** The most packets in one answer: python-engineio closes the connection for more. */
const MAX_ANSWERED_PACKETS = 16;
const MAX_POSTED_PACKETS = CONSTANTS.maxPostedPackets.value;
/** How long a body may take. */
const BODY_TIMEOUT_MS = CONSTANTS.bodyTimeoutMs.value;
/** How long a session that ends waits for the request that is told so. */
const LAST_POLL_TIMEOUT_MS = 30_000;
/** Answers from this size on are compressed for clients that read gzip. */
const MIN_COMPRESSED_BYTES = 1024;

/** A body that is refused; without `option`, it has too many packets or values and ends its session. */
interface RefusedBody {
  readonly size: number | undefined;
  readonly option?: "maxPayloadBytes" | "maxMessageMemoryBytes";
}

interface Poll {
  readonly response: ServerResponse;
  readonly readsGzip: boolean;
}

export class Polling implements Transport, Expirable {
  readonly name = "polling";
  readonly #session: EngineSession;
  readonly #options: SessionContext;
  /** The request that waits for packets. */
  #poll: Poll | undefined;
  /** The answers that are being written. */
  readonly #answers = new Set<ServerResponse>();
  #body: Body | undefined;
  #isClosing = false;
  #scheduled: Scheduled | undefined;

  constructor(session: EngineSession, options: SessionContext) {
    this.#session = session;
    this.#options = options;
  }

  /** Answers a GET with the packets that wait, as soon as there are some. */
  ask(request: IncomingMessage, response: ServerResponse): void {
    if (this.#poll !== undefined) {
      response.writeHead(400).end();
      return this.#session.fail("transport error");
    }
    const poll = {
      response,
      readsGzip: readsGzip(request.headers["accept-encoding"]),
    };
    this.#poll = poll;
    response.once("close", () => {
      if (this.#poll !== poll) return;
      this.#poll = undefined;
      this.#session.fail("transport error");
    });
    this.flush();
  }

  /** Reads the packets of a POST. */
  post(request: IncomingMessage, response: ServerResponse): void {
    const isBinary = request.headers["content-type"] === "application/octet-stream";
    if (this.#body !== undefined || isBinary) {
      response.writeHead(400).end();
      return this.#session.fail("transport error");
    }
    const announced = request.headers["content-length"];
    const size = announced === undefined ? undefined : Number(announced);
    const maxBytes = this.#session.isAdmitted
      ? this.#options.maxPayloadBytes
      : CONSTANTS.maxPendingBytes.value - 1;
    if (size !== undefined && size > maxBytes) return this.#refuse(response, { size });
    const memory = new Holding(this.#session.account);
    // A body that announces its length can be refused before it is read, and its session goes on.
    if (size !== undefined && !memory.hasRoom(size)) {
      this.#tellRefused({ size, option: "maxMessageMemoryBytes" });
      const { code, message, details } = noMemory(size);
      return this.#answerRefused(response, { code, message, details });
    }
    this.#body = new Body(request, {
      maxBytes: size ?? maxBytes,
      memory,
      timeouts: this.#options.timeouts,
      onEnd: (outcome) => this.#finishBody(outcome, { request, response }),
    });
  }

  flush(): void {
    if (this.#poll === undefined) return;
    const { outbox } = this.#session;
    if (outbox.messages.length > 0) {
      const { messages, bytes } = outbox.take(MAX_ANSWERED_PACKETS);
      return this.#answer(messages.map(toText), (isWritten) => {
        outbox.release(bytes);
        if (!isWritten) this.#session.fail("transport error");
      });
    }
    if (!this.#isClosing) return;
    // In an answer of its own: clients of Socket.IO read nothing that comes with it.
    this.#answer([EnginePacketType.close]);
    this.#gone();
  }

  /** Ends a waiting request without a message, so that the client can go on over its WebSocket. */
  release(): void {
    if (this.#poll !== undefined) this.#answer([EnginePacketType.noop]);
  }

  close(): void {
    this.#isClosing = true;
    this.flush();
    if (this.#session.readyState !== "closed") {
      this.#scheduled ??= this.#options.timeouts.add(this, LAST_POLL_TIMEOUT_MS);
    }
  }

  end(): void {
    if (this.#poll !== undefined) this.#answer([EnginePacketType.close]);
    this.#gone();
  }

  destroy(): void {
    const poll = this.#poll;
    this.#poll = undefined;
    poll?.response.destroy();
    for (const response of this.#answers) response.destroy();
    this.#stop();
  }

  /** Makes room for a WebSocket, which has taken the place of this transport. */
  retire(): void {
    this.release();
    this.#stop();
  }

  /** Implements {@linkcode Expirable}: no request came that could be told the end. */
  expire(): void {
    this.#gone();
  }

  #gone(): void {
    this.#stop();
    this.#session.onGone();
  }

  #stop(): void {
    this.#body?.destroy();
    this.#body = undefined;
    if (this.#scheduled !== undefined) this.#options.timeouts.cancel(this.#scheduled);
    this.#scheduled = undefined;
  }

  /** @param onClosed Called when the answer is read, or lost: it is written at once, however slowly the client reads. */
  #answer(packets: readonly string[], onClosed: (isWritten: boolean) => void = () => {}): void {
    const poll = this.#poll;
    if (poll === undefined) return;
    this.#poll = undefined;
    const { response } = poll;
    this.#answers.add(response);
    response.once("close", () => {
      this.#answers.delete(response);
      onClosed(response.writableFinished);
    });
    const body = packets.join(SEPARATOR);
    const size = Buffer.byteLength(body);
    this.#options.meter?.sent(size);
    if (!poll.readsGzip || size < MIN_COMPRESSED_BYTES) return answer(response, { body, size });
    gzip(body, (error, compressed) => {
      if (error !== null) return void response.destroy();
      answer(response, { body: compressed, size: compressed.byteLength, encoding: "gzip" });
    });
  }

  #finishBody(outcome: BodyOutcome, { request, response }: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  }): void {
    this.#body = undefined;
    if (outcome.kind === "read") this.#options.meter?.received(Buffer.byteLength(outcome.text));
    if (outcome.kind === "read" && costsTooMuch(outcome.text, maxValuesFor(this.#options.maxPayloadBytes))) {
      this.#tellRefused({ size: outcome.text.length });
      const message = "Cannot accept the body: it has too many packets or values";
      this.#answerRefused(response, { code: ErrorCode.PAYLOAD_TOO_LARGE, message });
      return this.#session.fail("transport error");
    }
    if (outcome.kind === "read") {
      this.#read(outcome.text);
      return void response.writeHead(200, {
        "content-type": "text/html",
        "content-length": "2",
        "cache-control": "no-store",
      }).end("ok");
    }
    if (outcome.kind === "late") response.writeHead(408).end();
    if (outcome.kind === "large") return this.#refuse(response, { size: undefined });
    if (outcome.kind === "no memory") request.socket.destroy();
    this.#session.fail("transport error");
  }

  /** Refuses a body that is too large; its session goes on. */
  #refuse(response: ServerResponse, { size }: { readonly size: number | undefined }): void {
    const limit = this.#options.maxPayloadBytes;
    this.#tellRefused({ size, option: "maxPayloadBytes" });
    const message = `Cannot accept the body${size === undefined ? "" : ` of ${size} bytes`}: ` +
      `the limit is ${limit} bytes (${optionLabel("maxPayloadBytes")})`;
    const details = size === undefined ? { limit } : { size, limit };
    this.#answerRefused(response, { code: ErrorCode.PAYLOAD_TOO_LARGE, message, details });
  }

  #tellRefused({ size, option }: RefusedBody): void {
    const { refusals, meter } = this.#options;
    const { member, remoteAddress: address } = this.#session;
    meter?.refused(option === undefined ? "body_content" : "body_size");
    if (option === undefined) {
      const message = "dropped a connection: a body over polling has too many packets or values";
      return refusals.write("warn", message, { ...member, address, length: size });
    }
    const reason = option === "maxPayloadBytes" ? "it is too large" : "other messages take the memory";
    refusals.write("warn", `refused a body over polling: ${reason}`, {
      ...member,
      address,
      size,
      limit: this.#options[option],
      option: optionLabel(option),
    });
  }

  #answerRefused(response: ServerResponse, body: unknown): void {
    const text = JSON.stringify(body);
    response.writeHead(413, {
      "content-length": Buffer.byteLength(text),
      "cache-control": "no-store",
      connection: "close",
    }).end(text);
  }

  /** Reads the packets of a body in their order, until one ends the session. */
  #read(text: string): void {
    const session = this.#session;
    for (const packet of text.split(SEPARATOR)) {
      // Also from a client that was told so, or has told it to Socket.IO: it asks for no further packet.
      if (packet === EnginePacketType.close) return session.fail("transport close");
      if (session.readyState !== "open") continue;
      if (packet.startsWith("b")) session.onMessage(Buffer.from(packet.slice(1), "base64"));
      else session.onText(packet);
    }
  }
}

type BodyOutcome =
  | { readonly kind: "read"; readonly text: string }
  | { readonly kind: "late" | "large" | "no memory" | "lost" };

interface BodyOptions {
  readonly maxBytes: number;
  readonly memory: Holding;
  readonly timeouts: Timeouts;
  readonly onEnd: (outcome: BodyOutcome) => void;
}

/** The body of a POST while it arrives. */
class Body implements Expirable {
  readonly #request: IncomingMessage;
  readonly #options: BodyOptions;
  readonly #scheduled: Scheduled;
  /** Has room for twice what has arrived: to keep each chunk would cost far more than a few bytes. */
  #buffer: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #isOver = false;

  constructor(request: IncomingMessage, options: BodyOptions) {
    this.#request = request;
    this.#options = options;
    this.#scheduled = options.timeouts.add(this, BODY_TIMEOUT_MS);
    request.on("data", this.#onData).on("end", this.#onRead).on("close", this.#onClose);
  }

  expire(): void {
    this.#end({ kind: "late" });
  }

  /** Ends the request, which nobody answers. */
  destroy(): void {
    this.#free();
    this.#request.socket.destroy();
  }

  #free(): void {
    this.#isOver = true;
    this.#options.timeouts.cancel(this.#scheduled);
    this.#options.memory.hold(0);
    giveBuffer(this.#buffer);
    this.#request.off("data", this.#onData).off("end", this.#onRead).off("close", this.#onClose);
  }

  readonly #onData = (chunk: Uint8Array): void => {
    const { maxBytes, memory } = this.#options;
    const start = this.#bytes;
    this.#bytes += chunk.byteLength;
    if (this.#bytes > maxBytes) return this.#end({ kind: "large" });
    if (this.#bytes > this.#buffer.byteLength) {
      const size = Math.min(2 * this.#bytes, maxBytes);
      if (!memory.hold(size)) return this.#end({ kind: "no memory" });
      this.#buffer = growBuffer(this.#buffer, size);
    }
    this.#buffer.set(chunk, start);
  };

  readonly #onRead = (): void => {
    this.#end({ kind: "read", text: this.#buffer.toString("utf8", 0, this.#bytes) });
  };

  readonly #onClose = (): void => {
    this.#end({ kind: "lost" });
  };

  #end(outcome: BodyOutcome): void {
    if (this.#isOver) return;
    this.#free();
    this.#options.onEnd(outcome);
  }
}

function readsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? "").toLowerCase().split(",").some((coding) => {
    const [name, ...parameters] = coding.trim().split(/\s*;\s*/);
    return name === "gzip" && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** A message as polling and a member in this process read it; its buffers are given back. */
export function toText(message: Outgoing): string {
  if (typeof message === "string") return message;
  if (isFrame(message)) {
    const text = Buffer.from(payloadOf(message)).toString();
    message.forEach(giveBuffer);
    return text;
  }
  return `b${Buffer.from(message).toString("base64")}`;
}

function answer(response: ServerResponse, { body, size, encoding }: {
  readonly body: string | Uint8Array;
  readonly size: number;
  readonly encoding?: string;
}): void {
  response.writeHead(200, {
    "content-type": "text/plain; charset=UTF-8",
    "content-length": size,
    "cache-control": "no-store",
    ...(encoding === undefined ? {} : { "content-encoding": encoding }),
  });
  response.end(body);
}

/** Whether a body has too many packets, or packets with more values than one message may have. */
function costsTooMuch(body: string, maxValues: number): boolean {
  let count = 1;
  for (let at = body.indexOf(SEPARATOR); at >= 0; at = body.indexOf(SEPARATOR, at + 1)) {
    if (++count > MAX_POSTED_PACKETS) return true;
  }
  // Socket.IO's decoder weighs a single packet.
  if (count === 1 || body.length * MAX_COST_PER_BYTE <= maxValues) return false;
  try {
    return costOfTexts(body.split(SEPARATOR), maxValues) > maxValues;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}
