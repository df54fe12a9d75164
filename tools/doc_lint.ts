/**
 * Lints the documentation of everything that the package exports. `deno doc` warns of types inside npm packages that
 * it cannot find (hundreds of lines about Node's own types); none of them is ours to mend, so they are left out.
 *
 * @module
 */

import documents from "../packages/documents/deno.json" with { type: "json" };
import manifest from "../deno.json" with { type: "json" };
import { captureDeno } from "./deno.ts";

/** What remains of the linter's output without the warnings about types of npm packages. */
export function withoutForeignTypes(output: string): string {
  let isForeign = false;
  const lines = output.split("\n").filter((line) => {
    // A warning goes on in lines that are indented by four.
    isForeign = line.startsWith("Warning Failed resolving types.") || (isForeign && line.startsWith("    "));
    return !isForeign;
  });
  return lines.join("\n").trim();
}

if (import.meta.main) {
  // These are for our own packages.
  const { "./base": _base, "./program": _program, "./words": _words, ...exports } = manifest.exports;
  const doors = [
    ...Object.values(exports),
    ...Object.values(documents.exports).map((path) => `packages/documents/${path}`),
  ];
  const { code, stdout, stderr } = await captureDeno(["doc", "--lint", ...doors]);
  const report = withoutForeignTypes(`${stdout}\n${stderr}`);
  console.log(report);
  Deno.exit(code || (/^Warning/m.test(report) ? 1 : 0));
}
