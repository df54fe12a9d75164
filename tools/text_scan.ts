/**
 * Assembles `src/server/engine/text_scan.wat` into the last constant of `text_scan.ts`. Run it after a change of the source:
 * `deno run -A tools/text_scan.ts`. A test compares both.
 */
import { Buffer } from "node:buffer";
import loadWabt from "wabt";

const folder = new URL("../src/server/engine/", import.meta.url);
/** What stands before the module, at the end of the file. */
const DECLARATION = "export const TEXT_SCAN_MODULE: string =";
const target = new URL("text_scan.ts", folder);

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
  const module = await Deno.readTextFile(target);
  const head = module.slice(0, module.indexOf(DECLARATION));
  await Deno.writeTextFile(target, `${head}${DECLARATION}\n${text};\n`);
}
