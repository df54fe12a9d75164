/** `.gitignore` files, as Git reads them. The comparisons for one path are bounded, however many lines there are. */

/** The most characters of a line, and of all lines from the root down to a folder; what exceeds them counts for nothing. */
const MAX_LINE_LENGTH = 512;
const MAX_LENGTH = 64 * 1024;
/** The most comparisons for one path, some ten milliseconds; a path that takes more is ignored. */
const MAX_COMPARISONS = 300_000;

/** What fits a byte: this one, or any of these. */
type BytePattern = string | ReadonlySet<string>;
/** Runs of patterns, with any number of other items between them. */
type Runs<Pattern> = readonly (readonly Pattern[])[];
type NamePattern = Runs<BytePattern>;

interface Line {
  /** The folder of the file, with `/` at its end; nothing for the root. */
  readonly base: string;
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
  readonly pattern: Runs<NamePattern>;
}

/** The `.gitignore` files from the root down to a folder. */
export class GitIgnores {
  readonly #lines: readonly Line[];
  readonly #length: number;
  /** Whether lines were left out, because they are too long or too many. */
  readonly isCut: boolean;
  /** Whether a path took too many comparisons. */
  isCostly = false;

  private constructor(lines: readonly Line[], { length, isCut }: { length: number; isCut: boolean }) {
    this.#lines = lines;
    this.#length = length;
    this.isCut = isCut;
  }

  static readonly none: GitIgnores = new GitIgnores([], { length: 0, isCut: false });

  /** With the text of the `.gitignore` of a folder, given by its path within the root. */
  with(folder: string, text: string): GitIgnores {
    const base = folder === "" ? "" : `${toBytes(folder)}/`;
    const lines: Line[] = [];
    let [length, isCut] = [this.#length, false];
    for (const written of text.replace(/^\ufeff/, "").split("\n")) {
      const line = toBytes(written.replace(/\r$/, ""));
      if (line === "" || line.startsWith("#")) continue;
      if (line.length > MAX_LINE_LENGTH || length + line.length > MAX_LENGTH) isCut = true;
      else {
        length += line.length;
        lines.push(...parseLine(line, base));
      }
    }
    return new GitIgnores([...this.#lines, ...lines], { length, isCut });
  }

  /** Whether a path within the root is ignored; the path of a folder ends with `/`. */
  ignores(path: string): boolean {
    const isFolder = path.endsWith("/");
    const bytes = toBytes(isFolder ? path.slice(0, -1) : path);
    const work = { left: MAX_COMPARISONS };
    const fitsName: FitsOne<string, NamePattern> = (name, pattern) =>
      fits(name, pattern, { work, fitsOne: fitsByte });
    const names = new Map<string, readonly string[]>();
    const last = this.#lines.findLast(({ base, onlyFolders, pattern }) => {
      if (work.left-- <= 0 || (onlyFolders && !isFolder)) return false;
      const below = names.get(base) ?? bytes.slice(base.length).split("/");
      names.set(base, below);
      return fits(below, pattern, { work, fitsOne: fitsName });
    });
    const isCostly = work.left < 0;
    this.isCostly ||= isCostly;
    return isCostly || last !== undefined && !last.isNegated;
  }
}

/** A text with a character for each of its bytes in UTF-8: Git compares bytes. */
function toBytes(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : String.fromCharCode(...new TextEncoder().encode(text));
}

/** The meaning of a line; nothing for one that is not valid, which fits no path. */
function parseLine(line: string, base: string): Line[] {
  // Spaces at the end count only when they are escaped.
  let glob = /^(?:\\[^]|[^\\ ]| +(?=[^ ]))*\\?/.exec(line)?.[0] ?? "";
  const isNegated = glob.startsWith("!");
  if (isNegated) glob = glob.slice(1);
  const onlyFolders = glob.endsWith("/");
  if (onlyFolders) glob = glob.slice(0, -1);
  const names = parseNames(glob.replace(/^\//, ""));
  if (names === undefined) return [];
  // A line without a slash fits a name in any folder.
  const pattern = glob.includes("/") ? toRuns(names) : [[], names];
  return [{ base, isNegated, onlyFolders, pattern }];
}

/** Divides the names at those of stars alone, which stand for any folders, and at the end for at least one name. */
function toRuns(names: readonly NamePattern[]): Runs<NamePattern> {
  const runs: NamePattern[][] = [[]];
  for (const name of names) {
    if (name.length > 2 && name.every(({ length }) => length === 0)) runs.push([]);
    else runs.at(-1)?.push(name);
  }
  if (runs.length > 1 && runs.at(-1)?.length === 0) runs.at(-1)?.push([[], []]);
  return runs;
}

const BYTES = Array.from({ length: 255 }, (_, code) => String.fromCharCode(code + 1));
const ANY: ReadonlySet<string> = new Set(BYTES);

/** The pattern of each name of a glob; `undefined` when a bracket is not closed, or nothing follows a backslash. */
function parseNames(glob: string): NamePattern[] | undefined {
  const names: BytePattern[][][] = [[[]]];
  for (let at = 0; at < glob.length; at++) {
    let pattern: BytePattern = glob[at] ?? "";
    if (pattern === "*") {
      names.at(-1)?.push([]);
      continue;
    }
    if (pattern === "?") pattern = ANY;
    else if (pattern === "[") {
      const bracket = parseBracket(glob, at + 1);
      if (bracket === undefined) return undefined;
      [pattern, at] = [bracket.bytes, bracket.end];
    } else if (pattern === "\\") {
      if (++at === glob.length) return undefined;
      pattern = glob[at] ?? "";
    }
    if (pattern === "/") names.push([[]]);
    else names.at(-1)?.at(-1)?.push(pattern);
  }
  return names;
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z\d]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  cntrl: /[^ -~\x80-\xff]/,
  digit: /\d/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-\/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[\da-f]/i,
};

/** The bytes that a bracket stands for, and where it ends. */
function parseBracket(glob: string, start: number): { bytes: ReadonlySet<string>; end: number } | undefined {
  const isNegated = /[!^]/.test(glob[start] ?? "");
  const bytes = new Set<string>();
  let before = "";
  for (let at = isNegated ? start + 1 : start, first = at; at < glob.length; at++) {
    let byte = glob[at] ?? "";
    if (byte === "]" && at > first) {
      return { bytes: isNegated ? ANY.difference(bytes) : bytes, end: at };
    }
    const [whole, name] = byte === "[" ? /^\[:([^\]]*):\]/.exec(glob.slice(at)) ?? [] : [];
    const isRange = byte === "-" && before !== "" && at + 1 < glob.length && glob[at + 1] !== "]";
    if (isRange) byte = glob[++at] ?? "";
    if (byte === "\\") byte = glob[++at] ?? "";
    if (whole !== undefined && name !== undefined) {
      const isOfClass = CLASSES[name];
      if (isOfClass === undefined) return undefined;
      for (const each of BYTES) if (isOfClass.test(each)) bytes.add(each);
      at += whole.length - 1;
    } else if (isRange) {
      for (const each of BYTES) if (each >= before && each <= byte) bytes.add(each);
    } else bytes.add(byte);
    before = isRange || whole !== undefined ? "" : byte;
  }
  return undefined;
}

type FitsOne<Item, Pattern> = (item: Item, pattern: Pattern) => boolean;

function fitsByte(byte: string, part: BytePattern): boolean {
  return typeof part === "string" ? part === byte : part.has(byte);
}

/**
 * Whether items fit runs of patterns: the first at the start, the last at the end, each other as soon as it can. Nothing
 * fits when no work is left.
 */
function fits<Item, Pattern>(
  items: ArrayLike<Item>,
  runs: Runs<Pattern>,
  { work, fitsOne }: { readonly work: { left: number }; readonly fitsOne: FitsOne<Item, Pattern> },
): boolean {
  const fitsAt = (start: number, run: readonly Pattern[]) =>
    run.every((pattern, index) => work.left-- > 0 && fitsOne(items[start + index] as Item, pattern));
  const [first = [], ...others] = runs;
  const last = others.pop();
  const end = items.length - (last?.length ?? 0);
  if (last === undefined ? items.length !== first.length : end < first.length) return false;
  if (!fitsAt(0, first) || (last !== undefined && !fitsAt(end, last))) return false;
  let at = first.length;
  for (const run of others) {
    while (at + run.length <= end && !fitsAt(at, run)) at++;
    if (at + run.length > end) return false;
    at += run.length;
  }
  return true;
}
