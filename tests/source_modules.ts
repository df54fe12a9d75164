/** The folder that holds the package's modules. */
export const sourceUrl = new URL("../src/", import.meta.url);

/** The URLs of all modules under `src/`, in order. */
export async function listSourceModules(folder: URL = sourceUrl): Promise<string[]> {
  const modules: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) modules.push(...await listSourceModules(new URL(`${entry.name}/`, folder)));
    else if (entry.name.endsWith(".ts")) modules.push(new URL(entry.name, folder).href);
  }
  return modules.sort();
}
