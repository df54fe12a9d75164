/** The file of an upload in the folder for uploads, until it has its name. */
import { join } from "@std/path";

/** The folder of parts and marks, below the folder for uploads. */
export const PARTS_FOLDER = ".a2c-upload";
export const PART = ".part";
export const MARK = ".kept";
/** Where a folder is, and what it is: another folder, or a link, under the same path has another identity. */
export interface FolderPlace {
  readonly root: string;
  readonly parts: string;
  readonly identity: string;
}

/** What the file is called while it is written, and at the end. */
interface NamedUpload {
  readonly id: string;
  readonly fileName: string;
}

/** The file of an upload that is not whole yet. */
export class PartFile {
  readonly #place: FolderPlace;
  readonly #fileName: string;
  readonly #path: string;
  readonly #file: Deno.FsFile;
  #identity = "";
  #isClosed = false;

  private constructor(place: FolderPlace, { id, fileName }: NamedUpload, file: Deno.FsFile) {
    this.#place = place;
    this.#fileName = fileName;
    this.#path = join(place.parts, `${id}${PART}`);
    this.#file = file;
  }

  /** Creates the file, which only its owner may read. */
  static async create(place: FolderPlace, upload: NamedUpload): Promise<PartFile> {
    const path = join(place.parts, `${upload.id}${PART}`);
    const file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    const part = new PartFile(place, upload, file);
    try {
      part.#identity = identityIn(await file.stat());
      await part.#assertPlace();
      return part;
    } catch (error) {
      await part.discard();
      throw error;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#assertPlace();
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await this.#file.write(rest));
  }

  /**
   * Gives the whole file its name, and resolves to its path.
   *
   * @throws {TypeError} when the folder was replaced, or the name is taken.
   */
  async land(): Promise<string> {
    const { root, parts } = this.#place;
    const path = join(root, this.#fileName);
    await this.#assertPlace();
    if (await statOf(path) !== undefined) throw new TypeError(`Cannot write "${path}": it exists already`);
    this.#close();
    const mark = join(parts, `${this.#fileName}${MARK}`);
    await Deno.writeFile(mark, new Uint8Array(), { createNew: true, mode: 0o600 });
    try {
      await Deno.rename(this.#path, path);
      await this.#assertPlace(path);
    } catch (error) {
      await removeFile(mark);
      throw error;
    }
    return path;
  }

  /** Removes the file, also after it got its name. */
  async discard(): Promise<void> {
    this.#close();
    const { root, identity } = this.#place;
    if (await identityOf(root).catch(() => undefined) !== identity) return;
    for (const path of [this.#path, join(root, this.#fileName)]) {
      const found = await statOf(path).catch(() => undefined);
      if (found !== undefined && identityIn(found) === this.#identity) await removeFile(path);
    }
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#file.close();
  }

  /** Throws when the folders or the file under these paths are not those of the beginning. */
  async #assertPlace(path: string = this.#path): Promise<void> {
    const { root, identity } = this.#place;
    const found = await statOf(path);
    if (found === undefined || identityIn(found) !== this.#identity || await identityOf(root) !== identity) {
      throw new TypeError(`Cannot write in folder "${root}": it was replaced during the upload`);
    }
  }
}

/** The identity of the folder and of its subfolder; neither may be a link, nor lie behind one. */
export async function identityOf(root: string): Promise<string> {
  await assertNoLink(root);
  const parts = await Deno.lstat(join(root, PARTS_FOLDER));
  if (!parts.isDirectory) throw replaced(join(root, PARTS_FOLDER));
  return `${identityIn(await Deno.lstat(root))} ${identityIn(parts)}`;
}

export async function assertNoLink(root: string): Promise<void> {
  const { isDirectory } = await Deno.lstat(root);
  if (!isDirectory || await Deno.realPath(root) !== root) throw replaced(root);
}

function replaced(path: string): TypeError {
  return new TypeError(`Cannot write in folder "${path}": a link or another file has taken its place`);
}

/** The device and the number of a file; both are unknown on Windows. */
function identityIn({ dev, ino }: Deno.FileInfo): string {
  return `${dev}:${ino}`;
}

export async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether the file is gone now; also when another Computer has removed it. */
export async function removeFile(path: string): Promise<boolean> {
  return await Deno.remove(path).then(() => true, (error) => error instanceof Deno.errors.NotFound);
}
