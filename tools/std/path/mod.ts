/**
 * Stands in for `jsr:@std/path` where only npm can be reached: the genuine code, from the npm copy of the
 * standard library, with the types that the plain JavaScript there lacks. Never published.
 *
 * @module
 */

// @ts-types="./path.d.ts"
export {
  basename,
  common,
  DELIMITER,
  dirname,
  extname,
  format,
  fromFileUrl,
  globToRegExp,
  isAbsolute,
  isGlob,
  join,
  joinGlobs,
  normalize,
  normalizeGlob,
  parse,
  relative,
  resolve,
  SEPARATOR,
  SEPARATOR_PATTERN,
  toFileUrl,
  toNamespacedPath,
} from "npm:deno-std@1.4.0/path/mod.js";
export type { GlobOptions, ParsedPath } from "./path.d.ts";
