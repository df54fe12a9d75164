// The signatures of `jsr:@std/path` 1.x, in the order of the alphabet.

/** The parts of a path, as `parse()` returns them. */
export interface ParsedPath {
  root: string;
  dir: string;
  base: string;
  ext: string;
  name: string;
}

/** Options of the glob functions. */
export interface GlobOptions {
  extended?: boolean;
  globstar?: boolean;
  caseInsensitive?: boolean;
}

export const DELIMITER: ":" | ";";
export const SEPARATOR: "/" | "\\";
export const SEPARATOR_PATTERN: RegExp;
export function basename(path: string | URL, suffix?: string): string;
export function common(paths: string[]): string;
export function dirname(path: string | URL): string;
export function extname(path: string | URL): string;
export function format(pathObject: Partial<ParsedPath>): string;
export function fromFileUrl(url: string | URL): string;
export function globToRegExp(glob: string, options?: GlobOptions): RegExp;
export function isAbsolute(path: string): boolean;
export function isGlob(str: string): boolean;
export function join(path: string | URL, ...paths: string[]): string;
export function joinGlobs(globs: string[], options?: GlobOptions): string;
export function normalize(path: string | URL): string;
export function normalizeGlob(glob: string, options?: GlobOptions): string;
export function parse(path: string): ParsedPath;
export function relative(from: string, to: string): string;
export function resolve(...pathSegments: string[]): string;
export function toFileUrl(path: string): URL;
export function toNamespacedPath(path: string): string;
