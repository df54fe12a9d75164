/** The version of this package. */
import manifest from "../deno.json" with { type: "json" };

/** The version of this package, from `deno.json`. */
export const PACKAGE_VERSION: string = manifest.version;
