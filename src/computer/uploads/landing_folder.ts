/**
 * The folder for uploads. Parts of open uploads lie in its subfolder `.a2c-upload`, and get their name in one step at the
 * end. A mark for each whole file lies there too: only files with a mark expire, so no other file is ever removed, also
 * when several Computers use the folder.
 */
import { join, resolve } from "@std/path";
import {
  assertNoLink,
  type FolderPlace,
  identityOf,
  MARK,
  PART,
  PartFile,
  PARTS_FOLDER,
  removeFile,
  statOf,
} from "./part_file.ts";
import { isUploadName, type Upload, uploadFailure } from "./upload.ts";

/** Limits of what the folder keeps. */
export interface FolderLimits {
  /** The most bytes of all uploads in the folder together; 1 GiB by default. */
  readonly maxTotalBytes: number;
  /** The most uploads in the folder; 1,000 by default. */
  readonly maxFiles: number;
  /** How long a file is kept after it was last changed, in milliseconds; 24 hours by default. */
  readonly expireMs: number;
}

/** When a part or a mark counts as left behind, in milliseconds without a change. */
const ORPHAN_MS = 60 * 60 * 1000;

interface Usage {
  files: number;
  bytes: number;
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

/** Creates the folder, and resolves to its path without links. */
async function makeRoot(path: string): Promise<string> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  return await Deno.realPath(path);
}
