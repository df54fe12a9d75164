/** What the reader of a WebSocket tells of the frames of its peer. */
import type { Buffer } from "node:buffer";
import type { TextScan } from "./text_scan.ts";

/** Receives what a peer sends. After `onClose` or `onFailure`, nothing follows. */
export interface FrameSink {
  onText(text: string): void;
  /**
   * Receives an ASCII text without control characters, with which `buffer` begins.
   *
   * @return Whether it took the message, and the buffer. If not, the message goes to `onText`.
   */
  onPlainText(buffer: Buffer, message: PlainMessage): boolean;
  onBinary(bytes: Buffer): void;
  /** Receives a text message that is larger than the limit, or than the memory that is left: its beginning, and its size. */
  onOversize(beginning: string, sizeBytes: number): void;
  onPing(payload: Buffer): void;
  onClose(code: number, reason: string): void;
  /** Receives the code with which to close a peer that broke a rule. */
  onFailure(code: number, message: string): void;
}

export interface PlainMessage {
  readonly end: number;
  readonly scan: TextScan | undefined;
}
