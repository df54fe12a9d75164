/** Folders of documents, served in this process to an official client of MCP. */
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { dirname, join } from "@std/path";
import { type FolderDocuments, type FolderDocumentsOptions, openFolderDocuments } from "../../mod.ts";
import type { DPEDocument, DPEElementDetail, DPEPage } from "@a2c-smcp/sdk";
import { isRecord } from "../../src/basics.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";

/** How long a read may take, in milliseconds: a parser that exceeds a limit is followed by another one. */
const PATIENCE_MS = 300_000;

/** A folder with files, removed at the end. */
export class TestFolder implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<TestFolder> {
    const folder = new TestFolder(await Deno.realPath(await Deno.makeTempDir()));
    for (const [path, content] of Object.entries(files)) await folder.write(path, content);
    return folder;
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    const file = join(this.path, path);
    await Deno.mkdir(dirname(file), { recursive: true });
    await (typeof content === "string" ? Deno.writeTextFile(file, content) : Deno.writeFile(file, content));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** The documents of folders and a client that reads them. */
export class DocumentsClient implements AsyncDisposable {
  /** The URIs that the client was told of, and `list` for changes of the list. */
  readonly told: string[] = [];
  readonly #documents: FolderDocuments;
  readonly #client: Client;

  private constructor(documents: FolderDocuments, client: Client) {
    this.#documents = documents;
    this.#client = client;
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void this.told.push(params.uri),
    );
    client.setNotificationHandler("notifications/resources/list_changed", () => void this.told.push("list"));
  }

  static async open(folder: string, options: Partial<FolderDocumentsOptions> = {}): Promise<DocumentsClient> {
    const documents = await openFolderDocuments({
      folders: [folder],
      host: "local.documents",
      parsers: 1,
      ...options,
    });
    const server = new McpServer({ name: "documents", version: "1" });
    documents.attach(server);
    const client = new Client({ name: "test", version: "1" });
    const opened = new DocumentsClient(documents, client);
    const [left, right] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(left), client.connect(right)]);
    await documents.listed;
    return opened;
  }

  /** The content of a resource. */
  async read(uri: string): Promise<unknown> {
    const { contents: [content] } = await this.#client.readResource({ uri }, { timeout: PATIENCE_MS });
    if (content === undefined || !("text" in content)) throw new TypeError(`No text at "${uri}"`);
    return content.mimeType === "application/json" ? JSON.parse(content.text) : content.text;
  }

  /** A resource that must be an object. */
  async readObject<T extends object>(uri: string): Promise<T> {
    const value = await this.read(uri);
    if (!isRecord(value)) throw new TypeError(`No object at "${uri}"`);
    return value as T;
  }

  page(uri: string, index = 0): Promise<DPEPage & { elements: DPEElementDetail[] }> {
    return this.readObject(`${uri}/pages/${index}`);
  }

  subscribe(uri: string): Promise<unknown> {
    return this.#client.subscribeResource({ uri });
  }

  /** The catalogue, by the names of the files. */
  async catalogue(): Promise<Record<string, DPEDocument>> {
    const { documents } = await this.readObject<{ documents: DPEDocument[] }>("dpe://local.documents");
    return Object.fromEntries(documents.map((document) => [nameOf(document), document]));
  }

  /** The catalogue when all files have been read. */
  untilRead(): Promise<Record<string, DPEDocument>> {
    return eventually(
      () => this.catalogue(),
      (documents) => Object.values(documents).every(({ page_count }) => page_count > 0),
      "every file to be read",
    );
  }

  /** The document of a file, when it is listed and read. */
  async untilListed(name: string): Promise<DPEDocument> {
    const documents = await eventually(
      () => this.catalogue(),
      (documents) => (documents[name]?.page_count ?? 0) > 0,
      `"${name}" to be read`,
    );
    const document = documents[name];
    if (document === undefined) throw new TypeError(`No "${name}" in the catalogue`);
    return document;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
    await this.#documents.close();
  }
}

function nameOf({ file_uri }: DPEDocument): string {
  return decodeURIComponent(file_uri.slice(file_uri.lastIndexOf("/") + 1));
}
