/** The `doc_ref` of a file. */
import { createHash } from "node:crypto";
import { nameOf } from "../file_name.ts";

/** The most characters of the name that a `doc_ref` keeps. */
const MAX_SLUG_LENGTH = 40;
/** How many hexadecimal digits of the digest it has. */
const DIGEST_LENGTH = 10;

/**
 * The `doc_ref` of a file: its name for people, and a digest of its path within the folder. So it stays the same when
 * the server restarts, when the folder itself is moved or renamed, and when the file is edited; it never is a path.
 *
 * @param path the path within the folder, with `/`
 */
export function fileRefOf(path: string): string {
  // File systems of macOS give names in another normal form than those of Linux.
  const normal = path.normalize("NFC");
  const digest = createHash("sha256").update(normal).digest("hex").slice(0, DIGEST_LENGTH);
  const slug = nameOf(normal).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, MAX_SLUG_LENGTH)
    .toWellFormed().replace(/^-|-$/g, "");
  return slug === "" ? digest : `${slug}-${digest}`;
}
