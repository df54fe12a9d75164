/** How another Deno process finds what these sources import. */
import { fromFileUrl } from "@std/path";

/**
 * The words for `deno run` of a program of these sources. Deno finds no `deno.json` by itself below `node_modules`, where
 * npm installs the programs. The npm package of the library is JavaScript, which is resolved as any package is.
 */
export function importWords(): string[] {
  const { protocol, pathname } = new URL(import.meta.url);
  const isInstalled = protocol === "file:" && pathname.endsWith(".ts");
  return isInstalled ? ["--config", fromFileUrl(new URL("../deno.json", import.meta.url))] : [];
}
