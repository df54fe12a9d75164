/** Errors of files that the Server reads. */

/** A file cannot be read, or its content cannot be used; the message says why, without any of its content. */
export class FileContentError extends Error {
  /** The name of the class. */
  override readonly name = "FileContentError";
  /** The code of this kind of error. */
  readonly code = "FILE_CONTENT";
}

/** The error of a part of a message; whoever knows the file completes it. */
export function contentProblem(reason: string, options?: ErrorOptions): FileContentError {
  return new FileContentError(reason, options);
}
