/** Finds out which request of ours a question of the server belongs to: it comes in the stream of that request's answer. */
import { isRecord, parseJson } from "../../json.ts";
import { isRequestId, type RequestId } from "../json_rpc.ts";
import type { BodyFrames, Noise } from "./body_frames.ts";

/** A larger event is not searched for a question, in bytes. */
const MAX_QUESTION_BYTES = 65_536;
const METHOD = "elicitation/create";

/** Passes events on, and tells the ids of the questions among them. */
export class AskingFrames implements BodyFrames {
  readonly #frames: BodyFrames;
  readonly #onQuestion: (id: RequestId) => void;
  readonly #decoder = new TextDecoder();

  constructor(frames: BodyFrames, onQuestion: (id: RequestId) => void) {
    this.#frames = frames;
    this.#onQuestion = onQuestion;
  }

  push(piece: Uint8Array): Uint8Array[] {
    const events = this.#frames.push(piece);
    for (const event of events) this.#search(event);
    return events;
  }

  get unfinishedBytes(): number {
    return this.#frames.unfinishedBytes;
  }

  end(): Uint8Array[] {
    return this.#frames.end();
  }

  takeNoise(): Noise {
    return this.#frames.takeNoise();
  }

  close(): void {
    this.#frames.close();
  }

  #search(event: Uint8Array): void {
    if (event.length > MAX_QUESTION_BYTES) return;
    const text = this.#decoder.decode(event);
    if (!text.includes(METHOD)) return;
    const data = text.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
    const message = parseJson(data.join("\n"));
    if (!isRecord(message) || message["method"] !== METHOD) return;
    if (isRequestId(message["id"])) this.#onQuestion(message["id"]);
  }
}
