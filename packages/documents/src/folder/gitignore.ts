/** `.gitignore` files, as Git reads them. The work for one path is bounded, however many lines there are. */
import ignore, { type Ignore } from "ignore";

/** The most characters of a line, and of all lines from the root down to a folder; what exceeds them counts for nothing. */
const MAX_LINE_LENGTH = 512;
const MAX_LENGTH = 64 * 1024;
/** How many lines one line counts as for each `**` after its first, which is compared at every place of a path. */
const DOUBLE_STAR_LINES = 64;

/** The `.gitignore` files from the root down to a folder. */
export class GitIgnores {
  readonly #lines: Ignore;
  readonly #length: number;
  /** Whether lines were left out, because they are too long or too many. */
  readonly isCut: boolean;

  private constructor(lines: Ignore, { length, isCut }: { length: number; isCut: boolean }) {
    this.#lines = lines;
    this.#length = length;
    this.isCut = isCut;
  }

  static readonly none: GitIgnores = new GitIgnores(ignore(), { length: 0, isCut: false });

  /** With the text of the `.gitignore` of a folder, given by its path within the root. */
  with(folder: string, text: string): GitIgnores {
    const lines = ignore({ ignorecase: false }).add(this.#lines);
    let [length, isCut] = [this.#length, false];
    for (const written of text.replace(/^\ufeff/, "").split("\n")) {
      const line = toPlainLine(toBytes(written.replace(/\r$/, "")));
      if (/^(?:#|!?\/?$)/.test(line)) continue;
      const cost = line.length * DOUBLE_STAR_LINES ** Math.max(0, line.split(/\*{2,}/).length - 2);
      if (line.length > MAX_LINE_LENGTH || length + cost > MAX_LENGTH) isCut = true;
      else {
        length += cost;
        lines.add({ pattern: toRootLine(line, toBytes(folder)) });
      }
    }
    return new GitIgnores(lines, { length, isCut });
  }

  /**
   * Tells whether a path within the root is ignored; the path of a folder ends with `/`. To be dropped soon, because it keeps each
   * answer.
   */
  matcher(): (path: string) => boolean {
    if (this.#length === 0) return () => false;
    const lines = ignore({ ignorecase: false }).add(this.#lines);
    return (path) => lines.ignores(toBytes(path));
  }
}

/** A text with a character for each of its bytes in UTF-8: Git compares bytes. */
function toBytes(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : String.fromCharCode(...new TextEncoder().encode(text));
}

/** The line without spaces at its end, and with `**` only where it stands for folders, once: within a name it is a `*`. */
function toPlainLine(line: string): string {
  return line.replace(/(?<=(?:^|[^\\])(?:\\\\)*) +$/, "")
    .replace(/(?<![/!\\]|^)\*{2,}|\*{2,}(?=[^/])/g, "*").replace(/(?:\*{2,}\/){2,}/g, "**/");
}

/** The line as it would stand in the `.gitignore` of the root. */
function toRootLine(line: string, folder: string): string {
  if (folder === "") return line;
  const [sign = "", glob = ""] = [/^!?/.exec(line)?.[0], line.replace(/^!/, "")];
  // A line without a slash, but for one at its end, fits a name in any folder.
  const below = /\/./.test(glob) ? glob.replace(/^\//, "") : `**/${glob}`;
  return `${sign}/${folder.replace(/[\\*?[]/g, "\\$&")}/${below}`;
}
