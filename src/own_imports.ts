/** How another Deno process finds what these sources import, and the documents program, which is in a package of its own. */
import { fromFileUrl } from "@std/path";

function isTypeScript(): boolean {
  return new URL(import.meta.url).pathname.endsWith(".ts");
}

/**
 * The words for `deno run` of a program of these sources. Deno finds no `deno.json` by itself below `node_modules`, where
 * npm installs the programs. The npm package of the library is JavaScript, which is resolved as any package is.
 */
export function importWords(): string[] {
  const isInstalled = import.meta.url.startsWith("file:") && isTypeScript();
  return isInstalled ? ["--config", fromFileUrl(new URL("../deno.json", import.meta.url))] : [];
}

/** The package `@a2c-smcp/documents` is not installed. */
export class DocumentsMissingError extends Error {
  override readonly name = "DocumentsMissingError";
  readonly code = "DOCUMENTS_MISSING";
  /** The line that installs it. */
  readonly command = `${isTypeScript() ? "deno add jsr:" : "npm install "}@a2c-smcp/documents`;

  constructor(cause: unknown) {
    super("", { cause });
    this.message =
      `Cannot serve documents: package "@a2c-smcp/documents" is not installed; run "${this.command}"`;
  }
}

/**
 * The program of `@a2c-smcp/documents`: a path, or an address of a registry. It is started, never imported.
 *
 * @throws {DocumentsMissingError} the package is not installed.
 */
export function documentsProgram(): string {
  try {
    const { protocol, href } = new URL(import.meta.resolve("@a2c-smcp/documents/main"));
    return protocol === "file:" ? fromFileUrl(href) : href;
  } catch (cause) {
    throw new DocumentsMissingError(cause);
  }
}
