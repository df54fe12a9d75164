/** Long texts for tests. */
import { assert } from "@std/assert";
import { Buffer } from "node:buffer";
import { takeBuffer } from "../../../../src/server/engine/buffers.ts";
import { RelayedText } from "../../../../src/server/engine/long_text.ts";
import { TextScan } from "../../../../src/server/engine/text_scan.ts";

/** Cuts an Engine.IO packet as its reader does. */
export function cutPacket(packet: string): RelayedText | undefined {
  const bytes = Buffer.from(packet);
  const buffer = takeBuffer(bytes.length);
  const scan = TextScan.begin();
  assert(scan !== undefined);
  scan.read(bytes, { target: buffer, start: 0, mask: 0 });
  return RelayedText.cut(buffer, scan);
}
