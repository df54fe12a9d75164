/** How another Deno process finds what these sources import, and what is in a package that not everybody installs. */
import { fromFileUrl } from "@std/path";

function isTypeScript(): boolean {
  return new URL(import.meta.url).pathname.endsWith(".ts");
}

/**
 * The words for `deno run` of a program of these sources. Below `node_modules`, where npm installs the programs, Deno finds no
 * `deno.json` by itself, and what plain JavaScript imports only when it is told that the folder is there.
 */
export function importWords(): string[] {
  if (!import.meta.url.startsWith("file:")) return [];
  if (!isTypeScript()) return ["--node-modules-dir=manual"];
  return ["--config", fromFileUrl(new URL("../deno.json", import.meta.url))];
}

/** A package that not everybody needs is not installed. */
export class PackageMissingError extends Error {
  override readonly name = "PackageMissingError";
  readonly code = "PACKAGE_MISSING";
  /** The line that installs it. */
  readonly command: string;

  /** `failure` is what cannot be done without the package, such as `Cannot serve documents`. */
  constructor(
    failure: string,
    { registry, name, cause }: {
      /** Where Deno finds the package. */
      readonly registry: "jsr" | "npm";
      readonly name: string;
      readonly cause: unknown;
    },
  ) {
    const command = `${isTypeScript() ? `deno add ${registry}:` : "npm install "}${name}`;
    super(`${failure}: package "${name}" is not installed; run "${command}"`, { cause });
    this.command = command;
  }
}

/**
 * The program of `@a2c-smcp/documents`: a path, or an address of a registry. It is started, never imported.
 *
 * @throws {PackageMissingError} the package is not installed.
 */
export function documentsProgram(): string {
  return pathOf(() => import.meta.resolve("@a2c-smcp/documents/main"), {
    failure: "Cannot serve documents",
    registry: "jsr",
    name: "@a2c-smcp/documents",
  });
}

/**
 * The demo, as {@linkcode documentsProgram}: it is in the package of the programs, with the MCP servers that it needs.
 *
 * @throws {PackageMissingError} only the library is installed.
 */
export function demoProgram(): string {
  return pathOf(() => import.meta.resolve("a2c-smcp/demo"), {
    failure: "Cannot run the demo",
    registry: "npm",
    name: "a2c-smcp",
  });
}

function pathOf(
  find: () => string,
  { failure, registry, name }: {
    readonly failure: string;
    readonly registry: "jsr" | "npm";
    readonly name: string;
  },
): string {
  try {
    const { protocol, href } = new URL(find());
    return protocol === "file:" ? fromFileUrl(href) : href;
  } catch (cause) {
    throw new PackageMissingError(failure, { registry, name, cause });
  }
}
