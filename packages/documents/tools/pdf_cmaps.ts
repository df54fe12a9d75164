/**
 * Writes `src/formats/pdf/cmaps_zip.ts`: the CMaps that PDF.js needs to read Chinese, Japanese and Korean
 * texts of fonts that do not say which letters their glyphs are. They come from the npm package of PDF.js.
 *
 * ```sh
 * deno run --allow-read --allow-write=src tools/pdf_cmaps.ts FOLDER   # `cmaps` of the unpacked package `pdfjs-dist`
 * ```
 */
import { zipSync } from "fflate";

/** Encodings that nobody finds in files, and those that are twice as large as the same in UTF-16. */
const LEFT_OUT = /UTF8|UTF32|Hojo|^(?:Hankaku|Hiragana|Katakana|Roman|WP-Symbol|NWP|Add|Ext|78)/;

const [folder = ""] = Deno.args;
const files: Record<string, Uint8Array> = {};
for (const { name } of [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  if (name.endsWith(".bcmap") && !LEFT_OUT.test(name)) files[name] = Deno.readFileSync(`${folder}/${name}`);
}
const license = Deno.readTextFileSync(`${folder}/LICENSE`).replace(/^%%Copyright: ?-*/gm, "").trim();
const zip = zipSync(files, { level: 9, mtime: "2026-01-01" }).toBase64();
Deno.writeTextFileSync(
  new URL("../src/formats/pdf/cmaps_zip.ts", import.meta.url),
  `/*\n * The CMaps of Adobe, as PDF.js packs them, in a zip archive in base64. Written by \`tools/pdf_cmaps.ts\`.\n *\n` +
    license.split("\n").map((line) => ` * ${line}`.trimEnd()).join("\n") + `\n */\n` +
    `// deno-fmt-ignore\nexport const CMAPS_ZIP = "${zip}";\n`,
);
