/**
 * Stands in for `jsr:@std/path` where only npm can be reached: the genuine code, from the npm copy of the
 * standard library, with the types that the plain JavaScript there lacks. Never published.
 *
 * @module
 */

// @ts-types="./path.d.ts"
export {
  basename,
  dirname,
  extname,
  fromFileUrl,
  globToRegExp,
  isAbsolute,
  join,
  normalize,
  relative,
  resolve,
  SEPARATOR,
  toFileUrl,
} from "npm:deno-std@1.4.0/path/mod.js";
export type { GlobOptions } from "./path.d.ts";
