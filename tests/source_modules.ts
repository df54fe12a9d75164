/** The root of the repository. */
export const rootUrl = new URL("../", import.meta.url);

/** The folders that hold the modules of the packages, from the root. */
export const sourceFolders = ["src/", "packages/documents/src/"];

/** The URLs of all modules of the packages, in order. */
export async function listSourceModules(): Promise<string[]> {
  return (await Promise.all(sourceFolders.map((folder) => listModules(new URL(folder, rootUrl))))).flat();
}

async function listModules(folder: URL): Promise<string[]> {
  const modules: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) modules.push(...await listModules(new URL(`${entry.name}/`, folder)));
    else if (entry.name.endsWith(".ts")) modules.push(new URL(entry.name, folder).href);
  }
  return modules.sort();
}
