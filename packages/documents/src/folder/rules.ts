/** Which files of a folder become documents. */
import { globProblem } from "@a2c-smcp/sdk/base";
import { globToRegExp } from "@std/path";
import { isLeftBehind, nameOf } from "../file_name.ts";
import { type FileKind, isUnknown, kindOf } from "../formats/kinds.ts";

/** What the owner says about the files. */
export interface FileRules {
  /** Globs of paths within the folder, such as `**\/*.pdf`; every file that can be read by default. */
  readonly include?: readonly string[] | undefined;
  /** Globs of paths that are left out, folders included, such as `drafts/**`. */
  readonly exclude?: readonly string[] | undefined;
  /** Whether `.gitignore` files are followed; `false` by default. */
  readonly gitignore?: boolean | undefined;
  /** Whether files and folders whose name begins with a dot are documents as well; `false` by default. */
  readonly hidden?: boolean | undefined;
}

interface IncludeGlob {
  readonly glob: string;
  readonly pattern: RegExp;
  /** Whether a file has fitted. */
  isUsed: boolean;
}

/** The rules, prepared for many files. */
export class FileFilter {
  readonly #include: readonly IncludeGlob[] | undefined;
  readonly #exclude: readonly RegExp[];
  readonly #hidden: boolean;
  /** Whether the `.gitignore` of each folder is read. */
  readonly followsGitignore: boolean;

  /** Throws a TypeError for a glob that is empty or absolute, because it would fit no file, and for one of too many stars. */
  constructor({ include, exclude = [], gitignore = false, hidden = false }: FileRules = {}) {
    this.#include = include?.map((glob) => ({ glob, pattern: toPattern(glob, "include"), isUsed: false }));
    this.#exclude = exclude.map((glob) => toPattern(glob, "exclude"));
    this.#hidden = hidden;
    this.followsGitignore = gitignore;
  }

  /** Whether a folder is searched, by its path within the root. */
  admitsFolder(path: string): boolean {
    return this.#admitsName(path) && !this.#exclude.some((glob) => glob.test(path) || glob.test(`${path}/`));
  }

  /**
   * The kind of a file that becomes a document, by its path within the root; `undefined` for all others, and `unknown` where
   * its content decides.
   */
  kindOf(path: string): FileKind | "unknown" | undefined {
    if (!this.#admitsName(path) || this.#exclude.some((glob) => glob.test(path))) return undefined;
    if (!this.#isIncluded(path)) return undefined;
    return kindOf(nameOf(path)) ?? (isUnknown(nameOf(path)) ? "unknown" : undefined);
  }

  /** The globs of `include` that have not fitted any file yet. */
  unusedGlobs(): readonly string[] {
    return (this.#include ?? []).flatMap(({ glob, isUsed }) => isUsed ? [] : [glob]);
  }

  #isIncluded(path: string): boolean {
    if (this.#include === undefined) return true;
    let isIncluded = false;
    for (const each of this.#include) {
      // When another glob fits, one that is used already need not be asked.
      if (isIncluded && each.isUsed || !each.pattern.test(path)) continue;
      isIncluded = each.isUsed = true;
    }
    return isIncluded;
  }

  #admitsName(path: string): boolean {
    const name = nameOf(path);
    return !isLeftBehind(name) && (this.#hidden || !name.startsWith("."));
  }
}

function toPattern(glob: string, option: string): RegExp {
  const problem = globProblem(glob);
  if (problem !== undefined) throw new TypeError(`Cannot use ${option} "${glob}": ${problem}`);
  return globToRegExp(glob.replace(/^\.\//, ""), { extended: true, globstar: true });
}
