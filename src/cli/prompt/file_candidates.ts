/** File names for completion. */

/** More entries of one folder are not offered. */
const MAX_ENTRIES = 1_000;

/**
 * The entries of the folder that a half-typed path leads to, written as the path is; folders end with `/`. Hidden
 * ones only when asked for. Empty where reading is not allowed: nobody wants to be asked for a permission by Tab.
 */
export async function fileCandidates(word: string): Promise<string[]> {
  const cut = word.lastIndexOf("/") + 1;
  const [typed, start] = [word.slice(0, cut), word.slice(cut)];
  const folder = typed === "" ? "." : typed;
  const { state } = await Deno.permissions.query({ name: "read", path: folder });
  if (state !== "granted") return [];
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (!name.startsWith(start) || name.startsWith(".") !== start.startsWith(".")) continue;
      if (names.push(`${typed}${name}${isDirectory ? "/" : ""}`) === MAX_ENTRIES) break;
    }
  } catch {
    // No such folder, or none that may be read: nothing to offer.
  }
  return names.sort();
}
