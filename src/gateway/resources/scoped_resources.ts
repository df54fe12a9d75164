/** Lists and reads the resources of Computers by the URIs of clients. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { A2C_COMPUTER } from "../../agent/toolkit/tool_definition.ts";
import { withAdvice } from "../../agent/toolkit/tool_result.ts";
import { toContents, toWellFormed } from "../../agent/toolkit/list_entries.ts";
import type { Json } from "../../local_tools/mcp.ts";
import type { OfficeView } from "../../agent/toolkit/office_view.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { toSeenError, toSeenLine, toSeenName } from "../../text/safe_text.ts";
import type { ClientList, OfficeResources } from "./office_resources.ts";
import { hasOwnHost, isReserved, type ResourceAddress, type ResourceUris } from "./uris.ts";

export interface ReadContents {
  readonly contents: readonly Json[];
}

export interface ResourceScope {
  readonly view: OfficeView;
  readonly uris: ResourceUris;
  readonly all: OfficeResources;
  readonly computers: () => readonly string[];
  /** Whether a Computer exists for the client. */
  readonly sees: (computer: string) => boolean;
}

interface Reading {
  readonly signal: AbortSignal;
  /** What the client calls itself. */
  readonly client: string | undefined;
}

/** The resources of the Computers that a scope reaches. */
export class ScopedResources {
  readonly #scope: ResourceScope;

  constructor(scope: ResourceScope) {
    this.#scope = scope;
  }

  list(): Promise<ClientList> {
    return this.#scope.all.list(this.#scope.computers());
  }

  /** Where a template leads; `undefined` when no Computer lists it. */
  async findTemplate(uriTemplate: string): Promise<ResourceAddress | undefined> {
    if (this.#scope.all.originOf(uriTemplate) === undefined) await this.list();
    const origin = this.#scope.all.originOf(uriTemplate);
    return origin !== undefined && this.#scope.computers().includes(origin.computer) ? origin : undefined;
  }

  /**
   * Reads a resource: a window, a document at one of its four levels, or any other that an MCP server has.
   *
   * @throws {ResourceNotFoundError} when no Computer has it. {ProtocolError} when it cannot be read.
   */
  async read(clientUri: string, reading: Reading): Promise<ReadContents> {
    const address = await this.find(clientUri, reading.signal);
    if (address === undefined) throw new ResourceNotFoundError(clientUri, this.#notFound(clientUri));
    return await this.#readAt(address, clientUri, reading);
  }

  /** Where a URI leads; `undefined` when no Computer has it, or several have and nobody owns the plain URI. */
  async find(clientUri: string, signal?: AbortSignal): Promise<ResourceAddress | undefined> {
    const found = await this.findAll([clientUri], signal);
    return found.get(clientUri);
  }

  /** Where these URIs lead, without those for which {@linkcode find} has no answer. The resources are listed once. */
  async findAll(
    clientUris: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, ResourceAddress>> {
    if (clientUris.some((uri) => this.#scope.uris.toAddress(uri) === undefined)) await this.list();
    signal?.throwIfAborted();
    const found = new Map<string, ResourceAddress>();
    for (const uri of clientUris) {
      const address = this.#addressOf(uri);
      if (address !== undefined) found.set(uri, address);
    }
    return found;
  }

  #addressOf(clientUri: string): ResourceAddress | undefined {
    const computers = this.#scope.computers();
    const known = this.#knownAddressOf(clientUri);
    if (known !== undefined) return computers.includes(known.computer) ? known : undefined;
    // A host that nobody lists may still be read, where only one Computer can have it.
    const [only, ...others] = computers;
    const isClear = only !== undefined && others.length === 0 && hasOwnHost(clientUri);
    return isClear ? { computer: only, mcpServer: undefined, uri: clientUri } : undefined;
  }

  /** A plain URI tells nothing of a Computer that does not exist for the client, whoever has it. */
  #knownAddressOf(clientUri: string): ResourceAddress | undefined {
    const { uris, sees } = this.#scope;
    const address = uris.toAddress(clientUri);
    return address === undefined || isReserved(clientUri) || sees(address.computer) ? address : undefined;
  }

  get #seesAll(): boolean {
    return this.#scope.view.computers.every(({ name }) => this.#scope.sees(name));
  }

  #notFound(uri: string): string {
    const what = `Cannot read ${toSeenLine(uri)}`;
    const computers = this.#scope.computers();
    const { problem } = this.#scope.view;
    if (problem !== undefined) return `${what}: the office cannot be reached now: ${withAdvice(problem)}`;
    if (computers.length === 0) return `${what}: no Computer is in the office`;
    const named = this.#knownAddressOf(uri)?.computer;
    if (named !== undefined && !computers.includes(named)) {
      return `${what}: Computer ${toSeenName(named)} is not in the office now`;
    }
    if (!this.#scope.uris.isShared(uri) || !this.#seesAll) {
      return `${what}: no Computer has it. List the resources, and read one of those`;
    }
    const example = toSeenLine(`a2c://COMPUTER/${uri}`);
    return `${what}: several Computers have this host. Name one of them, such as ${example}, ` +
      "as the list of resources does";
  }

  async #readAt(
    { computer, mcpServer, uri }: ResourceAddress,
    clientUri: string,
    { signal, client }: Reading,
  ): Promise<ReadContents> {
    const { office } = this.#scope.view;
    if (office === undefined) throw new ResourceNotFoundError(clientUri, this.#notFound(clientUri));
    try {
      const { contents } = await office.computer(computer, { client }).readResource(uri, {
        mcpServer,
        signal,
      });
      return {
        contents: contents.map(({ uri: part, _meta, ...rest }) => ({
          ...toContents(toWellFormed({ ...rest })),
          uri: part === uri
            ? clientUri
            : this.#scope.uris.toClient(part, { computer, mcpServer }).toWellFormed(),
          _meta: { ...toWellFormed(_meta), [A2C_COMPUTER]: computer },
        })),
      };
    } catch (error) {
      signal.throwIfAborted();
      throw toReadError(error, { clientUri, computer });
    }
  }
}

/** The codes of the protocol that mean that there is no such resource. */
const NOT_FOUND: ReadonlySet<number> = new Set([
  ErrorCode.NOT_FOUND,
  ErrorCode.DOCUMENT_NOT_FOUND,
  ErrorCode.PAGE_OUT_OF_RANGE,
  ErrorCode.ELEMENT_NOT_FOUND,
]);

function toReadError(
  error: unknown,
  { clientUri, computer }: { readonly clientUri: string; readonly computer: string },
): Error {
  const what = `Cannot read ${toSeenLine(clientUri)} on Computer ${toSeenName(computer)}`;
  const message = `${what}: ${toSeenError(error)}`.toWellFormed();
  if (!(error instanceof SmcpError)) return new ProtocolError(ProtocolErrorCode.InternalError, message);
  if (NOT_FOUND.has(error.code)) return new ResourceNotFoundError(clientUri, message);
  const isWrong = error.code === ErrorCode.BAD_REQUEST || error.code === ErrorCode.INVALID_DPE_URI;
  const code = isWrong ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, message, { code: error.code, uri: clientUri });
}
