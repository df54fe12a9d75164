/** The files of the folders, kept up to date. */
import { basename, join, SEPARATOR } from "@std/path";
import { BoundedMap, forEachBounded, type Logger, toSeenName, visitInTurns } from "@a2c-smcp/sdk/base";
import { describeError } from "../basics.ts";
import { type FileKind, HEAD_BYTES, kindOfContent } from "../formats/kinds.ts";
import { readHead, readInside } from "./read_inside.ts";
import { GitIgnores } from "./gitignore.ts";
import type { FileFilter } from "./rules.ts";
import { createHash } from "node:crypto";
import { nameOf } from "../file_name.ts";

/** How many entries of a folder are looked at at the same time. */
const CONCURRENCY = 32;
const MAX_DEPTH = 64;
export const NO_SUCH_FOLDER = "no such folder";
const MAX_GITIGNORE_BYTES = 1024 * 1024;

/** A file that is a document. */
export interface FolderFile {
  readonly docRef: string;
  readonly kind: FileKind;
  /** The folder that was given, in its canonical form. */
  readonly root: string;
  /** The path within it, with `/`. */
  readonly path: string;
  readonly size: number;
  /** When it was changed last, in milliseconds since 1970; 0 where that is not known. */
  readonly modifiedMs: number;
  /** Tells a file that was replaced from one that was edited; 0 where the system has none. */
  readonly inode: number;
}

export interface TreeChange {
  readonly added: readonly FolderFile[];
  readonly changed: readonly FolderFile[];
  readonly removed: readonly FolderFile[];
}

interface FolderNode {
  readonly files: Map<string, FolderFile>;
  readonly folders: Map<string, FolderNode>;
  /** What the `.gitignore` files of the folders above say. */
  ignoredAbove: GitIgnores;
}

export interface FileTreeOptions {
  readonly filter: FileFilter;
  /** The most files; others are left out with a warning. */
  readonly maxFiles: number;
  readonly logger: Logger;
}

/** The documents below some folders. Links are not followed. */
export class FileTree {
  readonly #options: FileTreeOptions;
  readonly #roots: ReadonlyMap<string, FolderNode>;
  readonly #files = new Map<string, FolderFile>();
  /** The versions of files that are no documents by their content, by their paths. */
  readonly #others: BoundedMap<string, FileVersion>;
  readonly #missing = new Set<string>();
  #warnedFull = false;

  /** @param roots the folders in their canonical form */
  constructor(roots: readonly string[], options: FileTreeOptions) {
    this.#roots = new Map(roots.map((root) => [root, emptyNode()]));
    this.#options = options;
    this.#others = new BoundedMap(options.maxFiles);
  }

  get files(): ReadonlyMap<string, FolderFile> {
    return this.#files;
  }

  /** What clients are told of given folders that did not exist at the last look; `undefined` when all did. */
  get notice(): string | undefined {
    if (this.#missing.size === 0) return undefined;
    const names = [...this.#missing].map((folder) => toSeenName(basename(folder))).join(", ");
    return `Cannot open documents of ${names}: ${NO_SUCH_FOLDER}.`;
  }

  /** Whether a folder may have documents, by its absolute path; what `.gitignore` says is not asked. */
  admitsFolder(absolute: string): boolean {
    const root = this.#roots.keys().find((root) => isWithin(absolute, root));
    return root !== undefined &&
      (absolute === root || this.#options.filter.admitsFolder(toInnerPath(absolute, root)));
  }

  /** Looks at all folders. A folder that cannot be read keeps the files that it had. */
  async refresh(): Promise<TreeChange> {
    const change = new ChangeSet();
    for (const [root, node] of this.#roots) {
      await this.#visit({ root, path: "", node, depth: 0 }, change, true);
    }
    return change;
  }

  /** Looks at single folders, by their absolute paths; at folders below them only when they are new. */
  async refreshFolders(paths: Iterable<string>): Promise<TreeChange> {
    const change = new ChangeSet();
    for (const path of paths) {
      const place = this.#find(path);
      // Each file that changed names its folder.
      if (place === undefined || change.visited.has(place.node)) continue;
      await this.#visit(place, change, false);
    }
    return change;
  }

  /** The known folder at a path, or the nearest one above it. */
  #find(absolute: string): Place | undefined {
    for (const [root, node] of this.#roots) {
      if (!isWithin(absolute, root)) continue;
      let place: Place = { root, path: "", node, depth: 0 };
      for (const name of toInnerPath(absolute, root).split("/")) {
        const next = place.node.folders.get(name);
        if (next === undefined) break;
        place = { root, path: joinPath(place.path, name), node: next, depth: place.depth + 1 };
      }
      return place;
    }
    return undefined;
  }

  async #visit(place: Place, change: ChangeSet, isDeep: boolean): Promise<void> {
    const { root, path, node, depth } = place;
    change.visited.add(node);
    const listed = await this.#list(join(root, path));
    if (listed === undefined) return;
    if (path === "") this.#noteRoot(root, listed === "missing");
    const entries = listed === "missing" ? [] : listed;
    const folders = new Set<string>();
    const files = new Map<string, FileKind | "unknown">();
    const ignores = await this.#readIgnores(place, entries);
    const isIgnored = ignores.matcher();
    await visitInTurns(entries, ({ name, isDirectory, isFile }) => {
      const inner = joinPath(path, name);
      if (isDirectory && this.#options.filter.admitsFolder(inner) && !isIgnored(`${inner}/`)) {
        folders.add(name);
      }
      const kind = isFile ? this.#options.filter.kindOf(inner) : undefined;
      if (kind !== undefined && !isIgnored(inner)) files.set(name, kind);
    });
    for (const [name, file] of node.files) if (!files.has(name)) this.#remove(node, name, file, change);
    for (const [name, folder] of node.folders) {
      if (!folders.has(name)) this.#removeFolder(node, name, folder, change);
    }
    await forEachBounded(files, CONCURRENCY, ([name, kind]) => this.#look(place, name, kind, change));
    for (const name of folders) {
      const known = node.folders.get(name);
      if (known !== undefined && !isDeep) continue;
      const inner = known ?? emptyNode();
      inner.ignoredAbove = ignores;
      node.folders.set(name, inner);
      if (depth + 1 > MAX_DEPTH) {
        this.#options.logger.warn("a folder is left out: it lies too deep", {
          folder: joinPath(path, name),
          max_depth: MAX_DEPTH,
        });
      } else {
        await this.#visit({ root, path: joinPath(path, name), node: inner, depth: depth + 1 }, change, true);
      }
    }
  }

  #noteRoot(folder: string, isMissing: boolean): void {
    if (this.#missing.has(folder) === isMissing) return;
    const { logger } = this.#options;
    if (isMissing) {
      this.#missing.add(folder);
      logger.warn("a folder cannot be read", { folder, error: NO_SUCH_FOLDER });
    } else {
      this.#missing.delete(folder);
      logger.info("a folder can be read again", { folder });
    }
  }

  async #list(path: string): Promise<Deno.DirEntry[] | "missing" | undefined> {
    try {
      return await Array.fromAsync(Deno.readDir(path));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "missing";
      this.#options.logger.warn("a folder cannot be read", { folder: path, error: describeError(error) });
      return undefined;
    }
  }

  /** What the `.gitignore` files down to a folder say now. */
  async #readIgnores({ root, path, node }: Place, entries: readonly Deno.DirEntry[]): Promise<GitIgnores> {
    const above = node.ignoredAbove;
    if (!this.#options.filter.followsGitignore) return above;
    if (!entries.some(({ name, isFile }) => name === ".gitignore" && isFile)) return above;
    try {
      const file = joinPath(path, ".gitignore");
      const bytes = await readInside({ root, path: file, maxBytes: MAX_GITIGNORE_BYTES });
      const ignores = above.with(path, new TextDecoder().decode(bytes));
      if (ignores.isCut) {
        this.#options.logger.warn(
          "lines of a .gitignore are left out: they are too long or too many",
          {
            folder: path,
          },
        );
      }
      return ignores;
    } catch (error) {
      this.#options.logger.warn("a .gitignore cannot be read", { folder: path, error: describeError(error) });
      return above;
    }
  }

  async #look(
    { root, path, node }: Place,
    name: string,
    named: FileKind | "unknown",
    change: ChangeSet,
  ): Promise<void> {
    const known = node.files.get(name);
    const inner = joinPath(path, name);
    const absolute = join(root, inner);
    const stat = await lookAt(absolute);
    if (stat === undefined) return known && this.#remove(node, name, known, change);
    const { size, mtime, ino } = stat;
    // A time that no date can hold is NaN.
    const seen = { size, modifiedMs: mtime?.getTime() || 0, inode: ino ?? 0 };
    if (known !== undefined && isSame(known, seen)) return;
    const isFull = known === undefined && this.#files.size >= this.#options.maxFiles;
    if (isFull) return this.#warnFull();
    const kind = named === "unknown" ? await this.#kindOfContent(absolute, known, seen) : named;
    if (kind === undefined) return known && this.#remove(node, name, known, change);
    const file = { ...known ?? { docRef: this.#freeRef(inner), root, path: inner }, ...seen, kind };
    node.files.set(name, file);
    this.#files.set(file.docRef, file);
    (known === undefined ? change.added : change.changed).push(file);
  }

  /** The kind of a file whose name does not tell it. Each version of it is looked into once. */
  async #kindOfContent(
    path: string,
    known: FolderFile | undefined,
    seen: FileVersion,
  ): Promise<FileKind | undefined> {
    const other = this.#others.get(path);
    if (other !== undefined && isSame(other, seen)) return undefined;
    // Many programs empty a file before they write it anew.
    if (seen.size === 0) return known?.kind;
    const head = await readHead(path, HEAD_BYTES);
    const kind = head && kindOfContent(head, nameOf(path));
    if (kind === undefined && head !== undefined) this.#others.set(path, seen);
    return kind;
  }

  /** Two folders may have files of the same path: the later one gets a number. */
  #freeRef(path: string): string {
    const ref = fileRefOf(path);
    for (let number = 1;; number++) {
      const candidate = number === 1 ? ref : `${ref}-${number}`;
      if (!this.#files.has(candidate)) return candidate;
    }
  }

  #remove(node: FolderNode, name: string, file: FolderFile, change: ChangeSet): void {
    node.files.delete(name);
    this.#files.delete(file.docRef);
    change.removed.push(file);
  }

  #removeFolder(node: FolderNode, name: string, folder: FolderNode, change: ChangeSet): void {
    for (const [inner, file] of folder.files) this.#remove(folder, inner, file, change);
    for (const [inner, below] of folder.folders) this.#removeFolder(folder, inner, below, change);
    node.folders.delete(name);
  }

  #warnFull(): void {
    if (this.#warnedFull) return;
    this.#warnedFull = true;
    this.#options.logger.warn("there are more files than the limit; the others are left out", {
      max_files: this.#options.maxFiles,
    });
  }
}

interface Place {
  readonly root: string;
  readonly path: string;
  readonly node: FolderNode;
  readonly depth: number;
}

class ChangeSet implements TreeChange {
  readonly added: FolderFile[] = [];
  readonly changed: FolderFile[] = [];
  readonly removed: FolderFile[] = [];
  readonly visited = new Set<FolderNode>();
}

function isWithin(absolute: string, root: string): boolean {
  return absolute === root || absolute.startsWith(root.endsWith(SEPARATOR) ? root : `${root}${SEPARATOR}`);
}

function toInnerPath(absolute: string, root: string): string {
  return absolute.slice(root.length).split(SEPARATOR).filter((name) => name !== "").join("/");
}

function emptyNode(): FolderNode {
  return { files: new Map(), folders: new Map(), ignoredAbove: GitIgnores.none };
}

function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}

async function lookAt(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    const stat = await Deno.lstat(path);
    return stat.isFile ? stat : undefined;
  } catch {
    return undefined;
  }
}

type FileVersion = Pick<FolderFile, "size" | "modifiedMs" | "inode">;

function isSame(known: FileVersion, seen: FileVersion): boolean {
  return known.size === seen.size && known.modifiedMs === seen.modifiedMs && known.inode === seen.inode;
}

/** The most characters of the name that a `doc_ref` keeps. */
const MAX_SLUG_LENGTH = 40;
/** How many hexadecimal digits of the digest it has. */
const DIGEST_LENGTH = 10;

/**
 * The `doc_ref` of a file: its name for people, and a digest of its path within the folder. So it stays the same when
 * the server restarts, when the folder itself is moved or renamed, and when the file is edited; it never is a path.
 *
 * @param path the path within the folder, with `/`
 */
export function fileRefOf(path: string): string {
  // File systems of macOS give names in another normal form than those of Linux.
  const normal = path.normalize("NFC");
  const digest = createHash("sha256").update(normal).digest("hex").slice(0, DIGEST_LENGTH);
  const slug = nameOf(normal).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, MAX_SLUG_LENGTH)
    .toWellFormed().replace(/^-|-$/g, "");
  return slug === "" ? digest : `${slug}-${digest}`;
}
