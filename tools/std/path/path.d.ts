// The signatures of `jsr:@std/path` 1.x, in the order of the alphabet.

/** Options of the glob functions. */
export interface GlobOptions {
  extended?: boolean;
  globstar?: boolean;
  caseInsensitive?: boolean;
}

export const SEPARATOR: "/" | "\\";
export function basename(path: string | URL, suffix?: string): string;
export function dirname(path: string | URL): string;
export function extname(path: string | URL): string;
export function fromFileUrl(url: string | URL): string;
export function globToRegExp(glob: string, options?: GlobOptions): RegExp;
export function isAbsolute(path: string): boolean;
export function join(path: string | URL, ...paths: string[]): string;
export function normalize(path: string | URL): string;
export function relative(from: string, to: string): string;
export function resolve(...pathSegments: string[]): string;
export function toFileUrl(path: string): URL;
