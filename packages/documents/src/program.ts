/** The command line of `main.ts`. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { buildDpeUri } from "@a2c-smcp/sdk/base";
import { OCR_LANGUAGES } from "./formats/ocr.ts";
import { openFolders } from "./folder_documents.ts";
import { createDocumentsHandler, serveDocumentsOnStdio } from "./serving.ts";
import {
  admissionOf,
  collect,
  createProgram,
  declareHttp,
  helpPart,
  type HttpOptions,
  listenOnHttp,
  loggerOf,
  type LogOptions,
  runLaunched,
  runProgram,
  sizeOf,
  UsageError,
} from "@a2c-smcp/sdk/program";

interface DocumentsCliOptions extends LogOptions, HttpOptions {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly gitignore: boolean;
  readonly hidden: boolean;
  readonly host?: string;
  readonly cache?: string;
  readonly tools: boolean;
  readonly ocr?: string;
  readonly maxFileSize: number;
  readonly parserMemory: number;
}

/** Serves documents until the client or a signal ends it, and returns the exit code. */
export function runDocumentsCli(args: readonly string[]): Promise<number> {
  return runLaunched(args, {
    name: "documents",
    run: (args, commandLine) => runProgram(args, (signal) => createDocumentsProgram(commandLine, signal)),
  });
}

/** How the program is called where `a2c-smcp` has not started it: in a clone, or as a command of the npm package. */
function ownCommandLine(): string {
  return Deno.mainModule.endsWith(".ts") ? "deno run -A main.ts" : "a2c-smcp-documents";
}

function createDocumentsProgram(commandLine = ownCommandLine(), signal: AbortSignal): Command {
  const program = createProgram(
    "documents",
    "An MCP server that makes the files of folders documents: pages and elements that an Agent reads one by one. " +
      "It speaks MCP on standard input and output, or over HTTP.",
    { commandLine },
  );
  program.argument("<folders...>", "the folders");
  for (const option of documentsOptions()) program.addOption(option);
  declareHttp(program, { prefix: "A2C_DOCUMENTS", paths: "/mcp" });
  program.addHelpText(
    "after",
    helpPart(
      "Examples:",
      `  ${commandLine} ~/Reports
  ${commandLine} ~/Reports ~/Notes --include "**/*.pdf" --exclude "drafts/**"`,
    ),
  );
  return program.action((folders: readonly string[]) => serve(folders, program.opts(), signal));
}

function documentsOptions(): Option[] {
  return [
    new Option("--include <glob>", "only files whose path fits, such as **/*.pdf; repeatable").argParser(
      collect,
    ),
    new Option("--exclude <glob>", "leave out files and folders whose path fits; repeatable").argParser(
      collect,
    ),
    new Option("--gitignore", "leave out what .gitignore files name").default(false),
    new Option("--hidden", "also files and folders whose name begins with a dot").default(false),
    new Option("--host <host>", "the host of the dpe:// URIs; by default local.documents.FOLDER")
      .argParser(parseHost),
    new Option("--cache <folder>", "keep there what was read from files between runs"),
    new Option("--no-tools", "resources alone, without tools to find and read documents"),
    new Option("--ocr <languages>", "read text in pictures and scans, such as eng or deu+eng")
      .argParser(parseLanguages),
    new Option("--max-file-size <size>", "the largest file that is read")
      .argParser(sizeOf(1)).default(100 * 1024 * 1024, "100MiB"),
    new Option("--parser-memory <size>", "the most memory of a process that reads files")
      .argParser(sizeOf(128 * 1024 * 1024)).default(768 * 1024 * 1024, "768MiB"),
  ];
}

function parseLanguages(raw: string): string {
  if (OCR_LANGUAGES.test(raw)) return raw;
  throw new InvalidArgumentError("Expected names of models of Tesseract such as eng, or deu+eng");
}

function parseHost(raw: string): string {
  try {
    buildDpeUri({ host: raw });
    return raw.toLowerCase();
  } catch {
    throw new InvalidArgumentError("Expected a host such as com.example.reports");
  }
}

async function serve(
  folders: readonly string[],
  options: DocumentsCliOptions,
  signal: AbortSignal,
): Promise<void> {
  const logger = loggerOf("documents", options);
  const { http } = options;
  const place = { file: "documents.token", what: "the documents", logger };
  const service = http && { ...http, admission: await admissionOf({ ...options, http }, place) };
  await using documents = await openFolders({
    ...options,
    folders,
    cacheFolder: options.cache,
    maxFileBytes: options.maxFileSize,
    maxParserBytes: options.parserMemory,
    logger,
  }).catch((error: unknown) => {
    throw error instanceof TypeError ? new UsageError(error.message, { cause: error }) : error;
  });
  const served = { documents, hasTools: options.tools };
  if (service === undefined) return await serveDocumentsOnStdio(served, { logger, signal });
  const handler = createDocumentsHandler(served, { ...service.admission, logger });
  await listenOnHttp(handler, { ...service, logger, signal });
}
