/** Globs of the files that become documents, as both a configuration and the documents program read them. */

/** The most stars of a glob between two slashes: each more takes a hundred times as long for a long name. */
const MAX_STARS = 3;

/** Why a glob of paths within a folder cannot be used: it would fit no file, or takes too long; `undefined` when it can. */
export function globProblem(glob: string): string | undefined {
  if (glob === "" || glob.startsWith("/") || glob.startsWith("../")) {
    return 'not a path within the folder, such as "**/*.pdf"';
  }
  const isSlow = glob.split("/").some((segment) =>
    segment !== "**" && segment.split("*").length > MAX_STARS + 1
  );
  return isSlow ? `it has more than ${MAX_STARS} stars between two slashes; write several globs` : undefined;
}
