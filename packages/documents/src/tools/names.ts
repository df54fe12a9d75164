/** The names by which a model knows documents: their paths, which are short, and which a person knows as well. */
import { basename } from "@std/path";
import { ArgumentError, isValidDpeUri, parseDpeUri, toSeenLine, toSeenPath } from "@a2c-smcp/sdk/base";
import type { FolderFile } from "../folder/tree.ts";

/** The longest name that is looked for, in characters: that of the longest path. */
const MAX_NAME_LENGTH = 4_096;
/** The most documents that an error names. */
const MAX_NAMED = 8;

/** A document that a model has named, and the page or the element where it has named that as well. */
export interface NamedDocument {
  readonly file: FolderFile;
  readonly page: number | undefined;
  readonly element: string | undefined;
}

export interface NamedFiles {
  /** The host of the URIs. */
  readonly host: string;
  readonly roots: readonly string[];
  readonly files: ReadonlyMap<string, FolderFile>;
  /** Which folders are missing; `undefined` when none is. */
  readonly notice?: string | undefined;
}

/** The path within the folder, behind the name of the folder where there are several. */
export function pathOf({ root, path }: FolderFile, { roots }: NamedFiles): string {
  if (roots.length === 1) return path;
  const isAlone = roots.filter((each) => basename(each) === basename(root)).length === 1;
  return `${isAlone ? basename(root) : root}/${path}`;
}

/**
 * Finds the document of a path, of the end of a path, of a key or of a `dpe://` URI.
 *
 * @throws {ArgumentError} none has it, or several have.
 */
export function findNamed(named: string, given: NamedFiles): NamedDocument {
  const { files, host } = given;
  if (named.length > MAX_NAME_LENGTH) throw nothingNamed(named, [], given);
  if (/^dpe:/i.test(named) && isValidDpeUri(named)) {
    const { host: other, docRef = "", pageIndex: page, elementId: element } = parseDpeUri(named);
    const file = other === host ? files.get(docRef) : undefined;
    if (file === undefined) throw nothingNamed(named, [], given);
    return { file, page, element };
  }
  const known = files.get(named);
  const found = known === undefined ? filesWith([named, decoded(named)], given) : [known];
  const [file, ...others] = found;
  if (file === undefined) throw nothingNamed(named, similarTo(named, given), given);
  if (others.length > 0) {
    throw new ArgumentError(`Several documents are named ${toSeenLine(named)}: ${listOf(found, given)}`);
  }
  return { file, page: undefined, element: undefined };
}

/** The files of the first of these names that has some. */
function filesWith(names: readonly string[], given: NamedFiles): readonly FolderFile[] {
  for (const name of names) {
    const found = filesOf(name, given);
    if (found.length > 0) return found;
  }
  return [];
}

/** The name as a URI has it, without its escapes. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The file of exactly this path, else the files whose path ends so, or is so on this machine. */
function filesOf(named: string, given: NamedFiles): FolderFile[] {
  const wanted = folded(named);
  const ending: FolderFile[] = [];
  for (const file of given.files.values()) {
    const path = pathOf(file, given);
    if (path === named) return [file];
    const isEnd = `/${folded(path)}`.endsWith(`/${wanted}`);
    if (isEnd || folded(`${file.root}/${file.path}`) === wanted) ending.push(file);
  }
  return ending;
}

/** A path as it is compared: whatever it begins with, its separators and the case of its letters. */
function folded(path: string): string {
  const plain = path.replace(/^file:\/\//, "").replace(/[\\/]+/g, "/").replace(/^(?:\.?\/)+/, "");
  return plain.normalize("NFC").toLowerCase();
}

/** Files whose path has all words of a name. */
function similarTo(named: string, given: NamedFiles): FolderFile[] {
  const words = named.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return [];
  return [...given.files.values()].filter((file) => {
    const path = pathOf(file, given).toLowerCase();
    return words.every((word) => path.includes(word));
  });
}

function nothingNamed(named: string, similar: readonly FolderFile[], given: NamedFiles): ArgumentError {
  const hint = similar.length === 0 ? "" : `. Similar: ${listOf(similar, given)}`;
  return new ArgumentError(
    `No document named ${toSeenLine(named)}${hint}. ${
      given.notice ?? "Call find_documents or list_documents to see which there are"
    }`,
  );
}

function listOf(files: readonly FolderFile[], given: NamedFiles): string {
  const names = files.slice(0, MAX_NAMED).map((file) => toSeenPath(pathOf(file, given)));
  return names.join(", ") + (files.length > MAX_NAMED ? " and more" : "");
}
