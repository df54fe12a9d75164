/** Where the control sockets of this user's Computers are: a folder that nobody else may enter. */
import { join } from "@std/path";

/** The longest path that a socket may have everywhere is 103 bytes; a folder of the system takes about half. */
const MAX_NAME_LENGTH = 40;
const SUFFIX = ".sock";

/** The folder, made if it is not there; `undefined` where it may not be used. */
export async function controlFolder(): Promise<string | undefined> {
  if (Deno.build.os === "windows") return undefined;
  const root = readVariable("XDG_RUNTIME_DIR") ?? readVariable("TMPDIR") ?? "/tmp";
  const folder = join(root, `a2c-smcp-${readVariable("USER") ?? readVariable("LOGNAME") ?? "user"}`);
  if (!await mayUse(folder)) return undefined;
  try {
    await Deno.mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  // Fails for a folder of somebody else, who could listen in its place.
  await Deno.chmod(folder, 0o700);
  const { isDirectory } = await Deno.lstat(folder);
  return isDirectory ? folder : undefined;
}

/** The socket of the Computer of this name. */
export async function controlPath(folder: string, name: string): Promise<string> {
  const file = encodeURIComponent(name);
  if (file.length <= MAX_NAME_LENGTH) return join(folder, `${file}${SUFFIX}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name)));
  return join(folder, `${file.slice(0, MAX_NAME_LENGTH - 17)}-${digest.toHex().slice(0, 16)}${SUFFIX}`);
}

/** The sockets of all Computers that run, or did not end as they should. */
export async function controlPaths(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(SUFFIX)) paths.push(join(folder, name));
  }
  return paths.sort();
}

/** Nobody wants to be asked for permissions by something that is only a convenience. */
async function mayUse(folder: string): Promise<boolean> {
  const queries = [
    { name: "read", path: folder },
    { name: "write", path: folder },
    { name: "net" },
  ] as const;
  const states = await Promise.all(queries.map((query) => Deno.permissions.query(query)));
  return states.every(({ state }) => state === "granted");
}

function readVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch {
    return undefined;
  }
}
