/** The errors of files, as clients see them. */
import { ErrorCode, SmcpError } from "@a2c-smcp/sdk/base";
import { nameOf } from "./file_name.ts";
import type { FolderFile } from "./folder/tree.ts";

export function cannotRead(
  { docRef, path }: FolderFile,
  { refused, message }: { readonly refused: string; readonly message: string },
): SmcpError {
  return new SmcpError(ErrorCode.INTERNAL_ERROR, `Cannot read "${nameOf(path)}": ${message}`, {
    details: { doc_ref: docRef, reason: refused },
  });
}

export function notFound(docRef: string, cause?: unknown): SmcpError {
  return new SmcpError(ErrorCode.DOCUMENT_NOT_FOUND, "Document not found", {
    details: { doc_ref: docRef },
    cause,
  });
}

/** What a client is told when a file cannot be read. */
export function toSmcpError(file: FolderFile, error: unknown): unknown {
  if (error instanceof Deno.errors.NotFound) return notFound(file.docRef, error);
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return cannotRead(file, { refused: "forbidden", message: "the server may not read the file" });
  }
  return error;
}
