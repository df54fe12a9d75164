/** Publishes the files of folders as documents. */
import { basename, dirname, SEPARATOR } from "@std/path";
import {
  countOf,
  describeFileError,
  documentsHost,
  FolderWatch,
  type Logger,
  silentLogger,
} from "@a2c-smcp/sdk/base";
import {
  Provider,
  type PublishedWindow,
  type SdkHandler,
  type SdkMcpServer,
  type SdkServer,
} from "@a2c-smcp/sdk/provider";
import { describeError } from "./basics.ts";
import { DocumentCatalogue } from "./catalogue.ts";
import { fetchOcr } from "./formats/ocr.ts";
import { FileFilter, type FileRules } from "./folder/rules.ts";
import { FileTree, type FolderFile, NO_SUCH_FOLDER } from "./folder/tree.ts";
import { type IndexDatabase, openIndex } from "./index/database.ts";
import type { ToolPlace } from "./tools/document_tools.ts";
import { ParserPool } from "./parsing/pool.ts";
import type { SearchOptions, SearchResult } from "./search/search.ts";

/** How many documents the window shows. */
const MAX_SHOWN = 20;
/**
 * The most folders whose events are heard, those near the top first: fewer than the 8,192 watches that many Linux systems
 * grant to a user. Changes in the others are found by the look at everything.
 */
const MAX_WATCHED = 5_000;
const MEBIBYTE = 1024 * 1024;

/** What {@linkcode openFolderDocuments} publishes, and its limits. */
export interface FolderDocumentsOptions extends FileRules {
  /** The folders, at least one. */
  readonly folders: readonly string[];
  /**
   * The host of the URIs, by default `local.documents.` and the names of the folders: `local.documents.reports`. Of the
   * servers of a Computer each needs a host of its own.
   */
  readonly host?: string | undefined;
  /**
   * The folder in which is kept what was read from files, so that the next start need not read them again; by default
   * nothing is kept. Created when it is missing; only its owner can read it.
   */
  readonly cacheFolder?: string | undefined;
  /** How often all folders are looked at, in milliseconds, for changes of which the system sends no event; 30,000 by default. */
  readonly pollMs?: number | undefined;
  /** The most files; others are left out with a warning. 200,000 by default. */
  readonly maxFiles?: number | undefined;
  /** The most bytes of a file that is read; 100 MiB by default. A larger one is listed, and reading it is an error. */
  readonly maxFileBytes?: number | undefined;
  /** The most time for opening a file or reading a page, in milliseconds; 30,000 by default, 120,000 with OCR. */
  readonly parseTimeMs?: number | undefined;
  /** The most memory of a parser process, in bytes; 768 MiB by default. */
  readonly maxParserBytes?: number | undefined;
  /**
   * The languages of text in pictures and on scanned pages, such as `eng` or `deu+eng`: it is read by OCR, which fetches
   * what it needs from npm when it is first used. By default it is not read.
   */
  readonly ocr?: string | undefined;
  /** How many parser processes there are at most; 2 by default. */
  readonly parsers?: number | undefined;
  /** Receives log lines; they are dropped by default. */
  readonly logger?: Logger | undefined;
}

/** How far the files of folders have been read. */
export interface DocumentsProgress {
  /** How many files there are. */
  readonly files: number;
  /** How many of them have not been read yet. */
  readonly unread: number;
}

/** The documents of some folders, as an MCP server offers them. */
export interface FolderDocuments extends AsyncDisposable {
  /** Offers the documents to the clients of an MCP server; see {@linkcode Provider.attach}. */
  attach(target: SdkMcpServer | SdkServer | SdkHandler): void;
  /**
   * Resolves when the folders have been searched. Their files are then listed, and read in the background. Requests of
   * clients are answered from then on; those that come earlier wait.
   */
  readonly listed: Promise<void>;
  /** How many files there are, and how many of them have not been read yet. */
  readonly progress: DocumentsProgress;
  /** Finds pages by the words of their text; see {@linkcode SearchResult}. A query is words and nothing else. */
  search(query: string, options: SearchOptions): Promise<SearchResult>;
  /** Ends watching and reading. Idempotent. */
  close(): Promise<void>;
}

/**
 * Publishes the files of folders as documents, and a window that shows which changed last. The files are read in
 * processes without permissions, and followed as they change. Needs `--allow-read` for the folders and the cache folder,
 * `--allow-write` for the cache folder, and `--allow-run` for Deno.
 *
 * @throws {TypeError} when a folder does not exist, a glob fits no file, or a language has no model
 *
 * Specification: `docs/protocol/finder.md#mcp-servers-with-documents`.
 */
export function openFolderDocuments(options: FolderDocumentsOptions): Promise<FolderDocuments> {
  return openFolders(options);
}

/** The same, with the tools of the program. */
export async function openFolders(options: FolderDocumentsOptions): Promise<OpenFolders> {
  const filter = new FileFilter(options);
  if (options.ocr !== undefined) await fetchOcr(options.ocr);
  return new OpenFolders(await findRoots(options.folders), filter, options);
}

export class OpenFolders implements FolderDocuments {
  readonly listed: Promise<void>;
  readonly #log: Logger;
  readonly #provider = new Provider();
  readonly #pool: ParserPool;
  readonly #database: IndexDatabase;
  readonly #filter: FileFilter;
  readonly #roots: readonly string[];
  readonly #tree: FileTree;
  readonly #catalogue: DocumentCatalogue;
  readonly #window: PublishedWindow;
  readonly #watch: FolderWatch;
  #closed: Promise<void> | undefined;

  constructor(roots: readonly string[], filter: FileFilter, options: FolderDocumentsOptions) {
    const { logger = silentLogger, maxFiles = 200_000 } = options;
    const host = options.host ?? documentsHost(namesOf(options.folders, roots));
    const { maxFileBytes = 100 * MEBIBYTE, maxParserBytes = 768 * MEBIBYTE, parsers = 2 } = options;
    this.#log = logger;
    this.#filter = filter;
    this.#roots = roots;
    this.#tree = new FileTree(roots, { filter, maxFiles, logger });
    this.#pool = new ParserPool({
      processes: parsers,
      timeMs: options.parseTimeMs ?? (options.ocr === undefined ? 30_000 : 120_000),
      ocr: options.ocr,
      maxMemoryBytes: maxParserBytes,
      maxFileBytes,
      maxUnpackedBytes: 512 * MEBIBYTE,
      maxPageBytes: 4 * MEBIBYTE,
      maxDepth: 200,
    });
    this.#database = openIndex(options.cacheFolder, { logger, ocr: options.ocr });
    this.#catalogue = new DocumentCatalogue({
      host,
      tree: this.#tree,
      pool: this.#pool,
      database: this.#database,
      logger,
      maxFileBytes,
      concurrency: parsers,
    });
    const published = this.#provider.publishDocuments(this.#catalogue);
    this.#window = this.#provider.publishWindow({
      host,
      path: ["documents"],
      name: "Documents",
      description: "Which documents changed last",
      mimeType: "text/markdown",
      priority: 0.3,
      read: async (request) => {
        await this.#catalogue.untilListed(request);
        return this.#recentChanges((file) => published.uri(file.docRef));
      },
    });
    this.#catalogue.attach(published, () => this.#window.update());
    this.#pool.warm();
    this.listed = this.#search();
    this.#watch = new FolderWatch(roots, {
      maxFolders: MAX_WATCHED,
      onChange: (paths) => this.#lookAgain(paths),
      pollMs: options.pollMs ?? 30_000,
      admits: (path) => this.#tree.admitsFolder(path),
      onProblem: (error) =>
        logger.warn("not all folders are watched; other changes are found by looking at them now and then", {
          error,
        }),
    });
  }

  attach(target: SdkMcpServer | SdkServer | SdkHandler): void {
    this.#provider.attach(target);
  }

  /** Where tools find and read the documents. */
  get toolPlace(): ToolPlace {
    return { catalogue: this.#catalogue, tree: this.#tree, roots: this.#roots };
  }

  get progress(): DocumentsProgress {
    return this.#catalogue.progress;
  }

  search(query: string, options: SearchOptions): Promise<SearchResult> {
    return this.#catalogue.search(query, options);
  }

  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Looks at what has changed, by its paths, or at everything. Nothing is told before the first list. */
  async #lookAgain(paths: ReadonlySet<string> | undefined): Promise<void> {
    try {
      await this.listed.catch(() => {});
      if (paths === undefined) return await this.#catalogue.refresh();
      const folders = new Set([...paths].flatMap((path) => [dirname(path), path]));
      await this.#catalogue.apply(await this.#tree.refreshFolders(folders));
    } catch (error) {
      this.#log.error("the folders cannot be looked at", { error: describeError(error) });
    }
  }

  async #search(): Promise<void> {
    const startMs = performance.now();
    await this.#catalogue.refresh();
    this.#catalogue.prune();
    const { files, unread } = this.#catalogue.progress;
    this.#log.info("folders searched", {
      host: this.#catalogue.host,
      files,
      unread,
      duration_ms: Math.round(performance.now() - startMs),
    });
    for (const glob of this.#filter.unusedGlobs()) {
      const hint = glob.includes("/")
        ? {}
        : { hint: `"**/${glob}" would also fit files in the folders below` };
      this.#log.warn("an include glob fits no file", { include: glob, ...hint });
    }
  }

  /** The text of the window: the documents that changed last, the newest first, in Markdown. */
  #recentChanges(uriOf: (file: FolderFile) => string): string {
    const files = [...this.#tree.files.values()];
    const newest = files.toSorted((a, b) => b.modifiedMs - a.modifiedMs).slice(0, MAX_SHOWN);
    const lines = newest.map((file) => {
      const time = new Date(file.modifiedMs).toISOString().slice(0, 16).replace("T", " ");
      return `- ${time} UTC: ${inOneLine(this.#catalogue.titleOf(file))} (${inOneLine(file.path)}) <${
        uriOf(file)
      }>`;
    });
    const { unread } = this.#catalogue.progress;
    const state = unread === 0 ? "" : `\n\n${unread} of them have not been read yet.`;
    const notice = this.#tree.notice === undefined ? "" : `\n\n${inOneLine(this.#tree.notice)}`;
    return `# Documents\n\n${countOf(files.length, "document")}. Changed last:\n\n${
      lines.join("\n")
    }${state}${notice}\n`;
  }

  async #close(): Promise<void> {
    await this.#watch.close();
    await Promise.all([this.#catalogue.close(), this.#pool.close()]);
    this.#database[Symbol.dispose]();
  }
}

/** A name may have line breaks, and would otherwise look like lines of the window. */
function inOneLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

/** The names of the folders as they are given; where these are `.` and the like, those of the folders themselves. */
function namesOf(folders: readonly string[], roots: readonly string[]): readonly string[] {
  const given = folders.map((folder) => basename(folder));
  return given.some((name) => /^\.*$/.test(name)) ? roots.map((root) => basename(root)) : given;
}

/** The folders in their canonical form. A folder inside of another one is left out. */
async function findRoots(folders: readonly string[]): Promise<readonly string[]> {
  if (folders.length === 0) throw new TypeError("Cannot open documents: no folder is given");
  const roots = new Set<string>();
  for (const folder of folders) {
    const real = await Deno.realPath(folder).catch((cause: unknown) => {
      const state = cause instanceof Deno.errors.NotFound ? NO_SUCH_FOLDER : describeFileError(cause);
      throw new TypeError(`Cannot open documents of "${folder}": ${state}`, { cause });
    });
    if (!(await Deno.stat(real)).isDirectory) {
      throw new TypeError(
        `Cannot open documents of "${folder}": it is a file; give the folder that it is in`,
      );
    }
    roots.add(real);
  }
  return [...roots].filter((root) => ![...roots].some((other) => root.startsWith(`${other}${SEPARATOR}`)));
}
