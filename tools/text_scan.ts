/**
 * Assembles `src/server/engine/text_scan.wat` into `text_scan_module.ts`. Run it after a change of the source:
 * `deno run -A tools/text_scan.ts`. A test compares both.
 */
import { Buffer } from "node:buffer";
import loadWabt from "wabt";

const folder = new URL("../src/server/engine/", import.meta.url);
const target = new URL("text_scan_module.ts", folder);

/** Returns the WebAssembly module of the source, in Base64. */
export async function assembleTextScan(): Promise<string> {
  const source = await Deno.readTextFile(new URL("text_scan.wat", folder));
  const wabt = await loadWabt();
  const module = wabt.parseWat("text_scan.wat", source, { simd: true });
  module.validate();
  return Buffer.from(module.toBinary({}).buffer).toString("base64");
}

if (import.meta.main) {
  const base64 = await assembleTextScan();
  const lines = base64.match(/.{1,104}/g) ?? [];
  const text = lines.map((line) => `  "${line}"`).join(" +\n");
  await Deno.writeTextFile(
    target,
    `/** The WebAssembly module that tools/text_scan.ts assembles from text_scan.wat, in Base64. */\n` +
      `export const TEXT_SCAN_MODULE: string =\n${text.trimStart().replace(/^/, "  ")};\n`,
  );
}
