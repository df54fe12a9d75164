/**
 * The folder for uploads. Parts of open uploads lie in its subfolder `.a2c-upload`, and get their name in one step at the
 * end. A mark for each whole file lies there too: only files with a mark expire, so no other file is ever removed, also
 * when several Computers use the folder.
 */
import { join, resolve } from "@std/path";
import { isUploadName, type Upload, uploadFailure } from "./sessions.ts";

/** Limits of what the folder keeps. */
export interface FolderLimits {
  /** The most bytes of all uploads in the folder together; 1 GiB by default. */
  readonly maxTotalBytes: number;
  /** The most uploads in the folder; 1,000 by default. */
  readonly maxFiles: number;
  /** How long a file is kept after it was last changed, in milliseconds; 24 hours by default. */
  readonly expireMs: number;
}

/** The folder of parts and marks, below the folder for uploads. */
const PARTS_FOLDER = ".a2c-upload";
const PART = ".part";
const MARK = ".kept";
/** When a part or a mark counts as left behind, in milliseconds without a change. */
const ORPHAN_MS = 60 * 60 * 1000;

interface Usage {
  files: number;
  bytes: number;
}

/** Where a folder is, and what it is: another folder, or a link, under the same path has another identity. */
export interface FolderPlace {
  readonly root: string;
  readonly parts: string;
  readonly identity: string;
}

export class LandingFolder {
  readonly #path: string;
  readonly #limits: FolderLimits;
  readonly #now: () => number;
  #root: Promise<string> | undefined;

  /** @param options `now`: a clock in milliseconds since 1970, as the times of files are. */
  constructor(path: string, options: { readonly limits: FolderLimits; readonly now: () => number }) {
    this.#path = resolve(path);
    this.#limits = options.limits;
    this.#now = options.now;
  }

  /**
   * Creates the folder, removes expired uploads, and resolves to its place.
   *
   * @throws {TypeError} when another folder or a link has taken its place. Errors of the file system.
   */
  async open(): Promise<FolderPlace> {
    const place = await this.#locate();
    await this.#sweep(place, new Set());
    return place;
  }

  /**
   * Creates the file for a new upload.
   *
   * @param open all open uploads, with the new one
   * @throws {SmcpError} 4019 `too_large` when there is no room.
   * @throws {TypeError} as {@linkcode LandingFolder.open} does.
   */
  async create(upload: Upload, open: readonly Upload[]): Promise<PartFile> {
    const place = await this.#locate();
    const { files, bytes } = await this.#sweep(place, new Set(open.map(({ id }) => id)));
    const openBytes = open.reduce((sum, { totalSize }) => sum + totalSize, 0);
    const { maxFiles, maxTotalBytes } = this.#limits;
    if (files + open.length > maxFiles || bytes + openBytes > maxTotalBytes) {
      const state = `the folder for uploads is full, with ${files} files and ${bytes} bytes; old ones expire`;
      throw uploadFailure("too_large", state, { total_size: upload.totalSize });
    }
    return await PartFile.create(place, upload);
  }

  async #locate(): Promise<FolderPlace> {
    this.#root ??= makeRoot(this.#path).catch((error) => {
      this.#root = undefined;
      throw error;
    });
    const root = await this.#root;
    const parts = join(root, PARTS_FOLDER);
    if (await statOf(root) === undefined) await Deno.mkdir(root, { recursive: true, mode: 0o700 });
    await assertNoLink(root);
    if (await statOf(parts) === undefined) await Deno.mkdir(parts, { recursive: true, mode: 0o700 });
    return { root, parts, identity: await identityOf(root) };
  }

  /** Removes what has expired, and counts the rest, but for parts of open uploads. */
  async #sweep({ root, parts }: FolderPlace, open: ReadonlySet<string>): Promise<Usage> {
    const usage = { files: 0, bytes: 0 };
    for await (const { name } of Deno.readDir(parts)) {
      const file = name.endsWith(MARK) ? name.slice(0, -MARK.length) : undefined;
      if (file !== undefined && isUploadName(file)) {
        await this.#sweepKept({ file: join(root, file), mark: join(parts, name) }, usage);
      } else if (name.endsWith(PART) && !open.has(name.slice(0, -PART.length))) {
        await this.#sweepPart(join(parts, name), usage);
      }
    }
    return usage;
  }

  async #sweepKept(
    { file, mark }: { readonly file: string; readonly mark: string },
    usage: Usage,
  ): Promise<void> {
    const kept = await statOf(file);
    if (kept?.isFile !== true) {
      // The file is about to get its name, or was moved away.
      if (this.#isOlder(await statOf(mark), ORPHAN_MS)) await removeFile(mark);
    } else if (this.#isOlder(kept, this.#limits.expireMs) && await removeFile(file)) {
      await removeFile(mark);
    } else {
      usage.files++;
      usage.bytes += kept.size;
    }
  }

  /** The part of another Computer, or one that was left behind. */
  async #sweepPart(path: string, usage: Usage): Promise<void> {
    const part = await statOf(path);
    if (part?.isFile !== true) return;
    if (this.#isOlder(part, ORPHAN_MS) && await removeFile(path)) return;
    usage.files++;
    usage.bytes += part.size;
  }

  #isOlder(file: Deno.FileInfo | undefined, ageMs: number): boolean {
    return file?.mtime != null && file.mtime.getTime() + ageMs <= this.#now();
  }
}

/** The file of an upload that is not whole yet. */
export class PartFile {
  readonly #place: FolderPlace;
  readonly #upload: Upload;
  readonly #path: string;
  readonly #file: Deno.FsFile;
  #identity = "";
  #isClosed = false;

  private constructor(
    { place, upload, path, file }: {
      readonly place: FolderPlace;
      readonly upload: Upload;
      readonly path: string;
      readonly file: Deno.FsFile;
    },
  ) {
    this.#place = place;
    this.#upload = upload;
    this.#path = path;
    this.#file = file;
  }

  /** Creates the file, which only its owner may read. */
  static async create(place: FolderPlace, upload: Upload): Promise<PartFile> {
    const path = join(place.parts, `${upload.id}${PART}`);
    const file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    const part = new PartFile({ place, upload, path, file });
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
    const path = join(root, this.#upload.fileName);
    await this.#assertPlace();
    if (await statOf(path) !== undefined) throw new TypeError(`Cannot write "${path}": it exists already`);
    this.#close();
    const mark = join(parts, `${this.#upload.fileName}${MARK}`);
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
    for (const path of [this.#path, join(root, this.#upload.fileName)]) {
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

/** Creates the folder, and resolves to its path without links. */
async function makeRoot(path: string): Promise<string> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  return await Deno.realPath(path);
}

/** The identity of the folder and of its subfolder; neither may be a link, nor lie behind one. */
async function identityOf(root: string): Promise<string> {
  await assertNoLink(root);
  const parts = await Deno.lstat(join(root, PARTS_FOLDER));
  if (!parts.isDirectory) throw replaced(join(root, PARTS_FOLDER));
  return `${identityIn(await Deno.lstat(root))} ${identityIn(parts)}`;
}

async function assertNoLink(root: string): Promise<void> {
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

async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether the file is gone now; also when another Computer has removed it. */
async function removeFile(path: string): Promise<boolean> {
  return await Deno.remove(path).then(() => true, (error) => error instanceof Deno.errors.NotFound);
}
