const rootPath = decodeURIComponent(new URL("../../", import.meta.url).pathname);

/** A linted file's path from the root of the repository, with `/` between its parts. */
export function toRepositoryPath(filename: string): string {
  const path = filename.replaceAll("\\", "/");
  // On Windows a URL's path is `/C:/…`, a file's is `C:/…`.
  const root = path.startsWith("/") ? rootPath : rootPath.slice(1);
  return path.startsWith(root) ? path.slice(root.length) : path;
}

/** The path that a relative specifier in a module names; both from the root of the repository. */
export function resolveImport(modulePath: string, specifier: string): string {
  // One folder deeper than the root, so that a specifier that leaves the repository shows as `../`.
  const base = new URL(`file:///outside/repository/${modulePath}`);
  const { pathname } = new URL(specifier, base);
  const path = decodeURIComponent(pathname);
  return path.startsWith("/outside/repository/") ? path.slice("/outside/repository/".length) : `..${path}`;
}

/** The folder of a path, with its closing `/`; empty for a file at the root. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** Whether a path is of what a package publishes: its doors and its `src/`. */
export function isPublished(path: string): boolean {
  return isSource(path) || !path.slice(packageOf(path).length).includes("/");
}

/** Whether a path is in the `src/` of a package. */
export function isSource(path: string): boolean {
  return path.slice(packageOf(path).length).startsWith("src/");
}

/** The folder of the package that a path belongs to, with its closing `/`; empty for the package at the root. */
export function packageOf(path: string): string {
  return /^packages\/[^/]+\//.exec(path)?.[0] ?? "";
}

/** The layer that a path of `src/` lies in: the folder's name, or a module's name right under `src/`. */
export function layerOf(path: string): string {
  return (path.split("/")[1] ?? "").replace(/\.ts$/, "");
}

/** The room that a path of `src/` lies in: the folder in its layer; `undefined` for a module right in the layer. */
export function roomOf(path: string): string | undefined {
  const [, , room, ...rest] = path.split("/");
  return rest.length === 0 ? undefined : room;
}
