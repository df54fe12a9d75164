/** Folders that only this user can access, for sockets and what belongs to them. */
import { join } from "@std/path";

/**
 * Makes the folder if it does not exist.
 *
 * @throws {TypeError} when the path is not a folder, or the folder belongs to another user.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  try {
    await Deno.mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  await assertOwn(folder);
}

/**
 * Checks that this user owns the folder, and makes it private: another user who can write there could listen in place
 * of a program of this user.
 */
async function assertOwn(folder: string): Promise<void> {
  // A symbolic link is not followed: its author could have us change the permissions of another folder.
  const { isDirectory, uid, mode } = await Deno.lstat(folder);
  if (!isDirectory) throw new TypeError(`Cannot use "${folder}": it is not a folder`);
  if (uid !== null && uid !== await ownUid(folder)) {
    throw new TypeError(`Cannot use "${folder}": it belongs to another user`);
  }
  // Windows knows no such modes: the folder of the profile keeps other users away, and what is in it inherits that.
  if (Deno.build.os === "windows") return;
  if (mode === null || (mode & 0o077) !== 0) await Deno.chmod(folder, 0o700);
}

/** The id of this user; without the permission to ask for it, the owner of a new file. */
async function ownUid(folder: string): Promise<number | null> {
  const { state } = await Deno.permissions.query({ name: "sys", kind: "uid" });
  if (state === "granted") return Deno.uid();
  const path = join(folder, `.owner-${crypto.randomUUID()}`);
  try {
    using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    // The owner of the open file: the owner of the folder could replace the file.
    const { uid } = await file.stat();
    await Deno.remove(path).catch(() => {});
    return uid;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return null;
    throw error;
  }
}
