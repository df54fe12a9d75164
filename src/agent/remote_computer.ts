/** One Computer of the office, as an Agent uses it. */
import { abortable } from "../async/abortable.ts";
import { makeRequest } from "../tracing.ts";
import type { GetComputerConfigRet } from "../protocol/config.ts";
import { type Desktop, type DesktopEntry, parseDesktopEntry, toDesktopEntry } from "../protocol/desktop.ts";
import type { DPEDocument, DPEDocumentPages, DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import type { FinderPage } from "../protocol/finder.ts";
import {
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_FINDER_EVENT,
  GET_TOOLS_EVENT,
  GET_WINDOWS_EVENT,
  TOOL_CALL_EVENT,
} from "../protocol/events.ts";
import { RequestTimeoutError } from "../protocol/local_errors.ts";
import {
  parseGetComputerConfigRet,
  parseGetDeskTopRet,
  parseGetFinderRet,
  parseGetToolsRet,
  parseGetWindowsRet,
} from "../protocol/answers.ts";
import type { SkillRef } from "../protocol/skills.ts";
import { DEFAULT_TIMEOUT_SECONDS } from "../protocol/timeouts.ts";
import { isFrom } from "../protocol/version.ts";
import { parseCallToolResult } from "../protocol/tool_result.ts";
import type { CallToolResult, SMCPTool } from "../protocol/tools.ts";
import { fillBlobs } from "./blobs.ts";
import type { ComputerRequests } from "./computer_requests.ts";
import {
  type DocumentAnswer,
  documentPagesUri,
  documentUri,
  elementUri,
  type FormatOptions,
  type PageIndexOptions,
  type PageOptions,
  pageUri,
  readDocument,
  readDocumentPages,
  readElement,
  readPage,
} from "./documents.ts";
import type { FollowedCalls } from "./followed_calls.ts";
import type { QuestionChannels } from "./question_channels.ts";
import { answerQuestions, type OnQuestion } from "./questions.ts";
import { RemoteMcpServers } from "./remote_mcp_servers.ts";
import type {
  CallToolOptions,
  DesktopOptions,
  FinderOptions,
  ReadResourceOptions,
} from "./remote_options.ts";
import { isNotServed, type RequestOptions } from "./requests.ts";
import { getSkill, getSkills, type SkillFile, type SkillFileOptions } from "./skills.ts";
import type { ToolServers } from "./tool_servers.ts";
import { putBlob, type PutBlobOptions, type UploadedBlob, type UploadSource } from "./uploads.ts";

/** The time limit for `client:get_windows`: some other implementations do not answer unknown events. */
const WINDOWS_TIMEOUT_MS = 5_000;

interface SharedParts {
  readonly followed: FollowedCalls;
  readonly channels: QuestionChannels;
  readonly onQuestion: OnQuestion | undefined;
  readonly toolServers: ToolServers;
}

/**
 * One Computer of the office: its tools, windows and documents. Made by `agent.computer(name)`, which sends no
 * request: when the office has no such Computer, the first request rejects with an `SmcpError` 404.
 *
 * Every method takes `signal` and `timeoutMs` (30,000 by default). It rejects with an `SmcpError` when the Server or
 * the Computer answers with an error, with a `RequestTimeoutError` when there is no answer, and with a
 * `ConnectionClosedError` when the connection is lost meanwhile.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 * import { Agent } from "@a2c-smcp/sdk/agent";
 * import { SmcpError } from "@a2c-smcp/sdk";
 * import { SmcpServer } from "@a2c-smcp/sdk/server";
 *
 * await using server = await SmcpServer.listen({ port: 0 });
 * await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
 *
 * const laptop = agent.computer("laptop");
 * const error = await assertRejects(() => laptop.callTool("echo", { message: "hi" }), SmcpError);
 * assertEquals(error.code, 404); // no Computer of that name is in the office
 * ```
 */
export class RemoteComputer extends RemoteMcpServers {
  /** The Computer's name in the office. */
  readonly name: string;
  readonly #requests: ComputerRequests;
  readonly #shared: SharedParts;

  /**
   * Use `agent.computer(name)`.
   *
   * @internal
   */
  constructor(
    requests: ComputerRequests,
    shared: SharedParts,
  ) {
    super(requests);
    this.name = requests.computer;
    this.#requests = requests;
    this.#shared = shared;
  }

  /**
   * Lists the tools that can be called (`client:get_tools`; `docs/protocol/data-structures.md#smcptool`), each with the
   * name of its MCP server as `server`, where the Computer tells it. Before protocol 0.3 that takes a second request
   * (`client:get_mcp_servers`), once until the tools change.
   */
  async getTools(options: RequestOptions = {}): Promise<SMCPTool[]> {
    options.signal?.throwIfAborted();
    const hasBundleIds = isFrom(this.#requests.protocolVersion, "0.3");
    const asked = hasBundleIds ? undefined : this.#shared.toolServers.request(this.#requests);
    const { tools } = await this.#requests.ask(GET_TOOLS_EVENT, {}, { ...options, parse: parseGetToolsRet });
    const servers = await asked?.();
    return tools.map(({ server: _server, ...tool }) => {
      const server = servers?.get(tool.name) ?? tool.bundle_id;
      return server === undefined ? tool : { ...tool, server };
    });
  }

  /**
   * Calls a tool (`client:tool_call`). When the tool fails, the promise resolves to a result with `isError`;
   * `meta.error_code` has the cause. Parts that are too large for one message are fetched and inserted. A part that cannot
   * be fetched keeps its handle in `_meta`, and the logger receives the cause.
   *
   * When `signal` is aborted or no answer arrives in time, the call is also cancelled on the Computer. When the call
   * takes longer than `timeoutMs`, rounded up to whole seconds, the Computer answers with `meta.a2c_timeout`.
   *
   * With `onQuestion`, the user of this Agent answers what the MCP server asks during the call, and confirms the call
   * where the Computer's owner allows that. A Computer or Server that does not know questions is used as without.
   *
   * @param tool The name under which the tool is listed.
   * @param params The arguments, matching the tool's `params_schema`.
   * @example
   * ```ts
   * import type { RemoteComputer } from "@a2c-smcp/sdk/agent";
   *
   * export async function build(laptop: RemoteComputer): Promise<void> {
   *   await laptop.callTool("build", { target: "release" }, {
   *     onProgress: ({ progress, total, message }) => console.log(progress, total, message),
   *     timeoutMs: 60_000,
   *     resetTimeoutOnProgress: true, // a minute without progress, not a minute in all
   *   });
   * }
   * ```
   */
  callTool(
    tool: string,
    params: Readonly<Record<string, unknown>> = {},
    options: CallToolOptions = {},
  ): Promise<CallToolResult> {
    const attributes = { "a2c.computer": this.name, "gen_ai.tool.name": tool };
    return makeRequest(
      TOOL_CALL_EVENT,
      attributes,
      (reqId) => this.#callTool(tool, params, { reqId, ...options }),
    );
  }

  async #callTool(
    tool: string,
    params: Readonly<Record<string, unknown>>,
    options: CallToolOptions & { readonly reqId: string },
  ): Promise<CallToolResult> {
    const { signal, reqId, onWait } = options;
    const { channels } = this.#shared;
    const { onQuestion = this.#shared.onQuestion } = options;
    signal?.throwIfAborted();
    using followed = await this.#shared.followed.follow(this.#requests, options);
    const { timeoutMs } = followed;
    const body = { req_id: reqId, tool_name: tool, params };
    const send = () =>
      this.#requests.ask(TOOL_CALL_EVENT, body, { signal, timeoutMs, parse: parseCallToolResult });
    try {
      if (onQuestion !== undefined) await abortable(channels.open(this.#requests), signal);
      const first = await send();
      const asking = { requests: this.#requests, tool, params, reqId, timeoutMs, signal, onQuestion, onWait };
      const result = channels.has(this.name)
        ? await answerQuestions(first, { ...asking, repeat: send })
        : first;
      return await this.#requests.fill((filling) => fillBlobs(result, filling), { signal, timeoutMs });
    } catch (error) {
      if (signal?.aborted || error instanceof RequestTimeoutError) this.#requests.cancel(reqId);
      throw error;
    }
  }

  /**
   * Uploads a file (`client:put_blob`, `docs/protocol/versions.md#uploads`) and resolves to its place on the Computer: pass
   * `landingPath` as an argument of a tool. The Computer keeps it for a while, 24 hours by default.
   *
   * @param source The bytes, at least one; a `Blob`, a `File`, or another {@linkcode UploadFile}, which is read twice, in
   *   pieces; or a stream of at most 100 MiB, which is kept in memory.
   * @param options `timeoutMs`: for the whole upload, 300,000 by default. While other uploads take all places of the
   *   Computer, it waits.
   * @throws {SmcpError} 4019 with `details.reason`, such as `forbidden` while the Computer takes no uploads.
   * @throws {UnsupportedRequestError} when the Agent speaks a protocol before 0.4, or the Computer or the Server does not
   *   know uploads.
   * @throws {TypeError} when there are no bytes. {RangeError} when a stream is too long.
   * @example
   * ```ts
   * import type { RemoteComputer } from "@a2c-smcp/sdk/agent";
   *
   * export async function convert(laptop: RemoteComputer, picture: File): Promise<void> {
   *   const { landingPath } = await laptop.putBlob(picture);
   *   await laptop.callTool("convert", { path: landingPath });
   * }
   * ```
   */
  async putBlob(source: UploadSource, options: PutBlobOptions = {}): Promise<UploadedBlob> {
    return await putBlob(this.#requests, source, options);
  }

  /**
   * Lists the skills of the Computer (`client:get_skills`, `docs/skills.md`): what each is for, without its text.
   *
   * @throws {UnsupportedRequestError} when the Computer or the Server does not know skills.
   */
  async getSkills(options: RequestOptions = {}): Promise<SkillRef[]> {
    return await getSkills(this.#requests, options);
  }

  /**
   * Reads a file of a skill whole (`client:get_skill`), in pieces where it is large, and compares its checksum.
   *
   * @param name the name of the skill as listed
   * @throws {SmcpError} 4014 for an unknown skill, 4016 for a malformed name, 4017 for a file that cannot be read, with
   *   `details.reason`; 413 when it has more bytes than `AgentOptions.maxBlobBytes`.
   * @example
   * ```ts
   * import type { RemoteComputer } from "@a2c-smcp/sdk/agent";
   *
   * export async function instructionsOf(laptop: RemoteComputer, skill: string): Promise<string> {
   *   const { body = "" } = await laptop.getSkill(skill);
   *   return body;
   * }
   * ```
   */
  async getSkill(name: string, options: SkillFileOptions = {}): Promise<SkillFile> {
    return await getSkill(this.#requests, name, options);
  }

  /** Fetches the configuration of the Computer's MCP servers, with secrets masked (`client:get_config`). */
  getConfig(options: RequestOptions = {}): Promise<GetComputerConfigRet> {
    return this.#requests.ask(GET_CONFIG_EVENT, {}, { ...options, parse: parseGetComputerConfigRet });
  }

  /** Fetches the windows, each as `{URI}\n\n{text}` (`client:get_desktop`; `docs/protocol/desktop.md#fetching-the-desktop`). */
  async getDesktop(options: DesktopOptions = {}): Promise<Desktop[]> {
    const { size, window, ...rest } = options;
    const asked = { ...rest, parse: parseGetDeskTopRet };
    const answer = await this.#requests.ask(GET_DESKTOP_EVENT, { desktop_size: size, window }, asked);
    return answer.desktops ?? [];
  }

  /**
   * Fetches the windows, each as `{ uri, text, title?, mcpServer? }`. Uses `client:get_windows`
   * (`docs/protocol/extensions.md#windows`). When the Computer does not support it, or does not answer in five seconds,
   * uses `client:get_desktop`; then `title` and `mcpServer` are absent.
   */
  async getWindows(options: DesktopOptions = {}): Promise<DesktopEntry[]> {
    const { size, window, timeoutMs = DEFAULT_TIMEOUT_SECONDS * 1000, ...rest } = options;
    const body = { desktop_size: size, window };
    const asked = { ...rest, timeoutMs: Math.min(timeoutMs, WINDOWS_TIMEOUT_MS), parse: parseGetWindowsRet };
    try {
      return (await this.#requests.ask(GET_WINDOWS_EVENT, body, asked)).windows.map(toDesktopEntry);
    } catch (error) {
      if (!isNotServed(error)) throw error;
      return (await this.getDesktop(options)).map(parseDesktopEntry);
    }
  }

  /** Fetches a page of the Finder (`client:get_finder`; `docs/protocol/finder.md#fetching-documents`). */
  async getFinder(options: FinderOptions = {}): Promise<FinderPage> {
    const { keywords, fileType, offset, limit, ...rest } = options;
    const body = { keywords, file_type: fileType, offset, limit };
    const answer = await this.#requests.ask(GET_FINDER_EVENT, body, { ...rest, parse: parseGetFinderRet });
    const { documents = [], total_count: totalCount = documents.length } = answer;
    return { documents, totalCount };
  }

  /**
   * Reads a document's metadata: Level 1 (`docs/protocol/finder.md#navigation-helpers`).
   *
   * @param uri The document's `dpe://` URI, or that of one of its pages or elements.
   * @throws {SmcpError} 4201 when the document does not exist, 4204 when `uri` is not a document URI.
   */
  async readDocumentMetadata(uri: string, options: ReadResourceOptions = {}): Promise<DPEDocument> {
    return readDocument(await this.#readDocument(documentUri(uri), options));
  }

  /**
   * Reads a document's metadata and a part of its page index: Level 1 with `depth=pages`.
   *
   * @throws {SmcpError} as {@linkcode readDocumentMetadata}.
   */
  async readDocumentPages(
    uri: string,
    options: ReadResourceOptions & PageIndexOptions = {},
  ): Promise<DPEDocumentPages> {
    const { offset, limit, ...rest } = options;
    const pages = documentPagesUri(uri, { offset, limit });
    return readDocumentPages(await this.#readDocument(pages, rest));
  }

  /**
   * Reads a page of a document: Level 2.
   *
   * @param uri The document's URI.
   * @param pageIndex The number of the page, from 0.
   * @throws {SmcpError} 4201 when the document does not exist, 4202 when the page does not exist, 4204 when the URI is invalid.
   */
  async readPage(
    uri: string,
    pageIndex: number,
    options: ReadResourceOptions & PageOptions = {},
  ): Promise<DPEPage> {
    const { format, categories, ...rest } = options;
    const page = pageUri(uri, pageIndex, { format, categories });
    return readPage({ ...await this.#readDocument(page, rest), format });
  }

  /**
   * Reads an element of a document: Level 3.
   *
   * @param uri The document's URI.
   * @param elementId The `element_id` in the page.
   * @throws {SmcpError} 4201 when the document does not exist, 4203 when the element does not exist, 4204 when the URI is invalid.
   */
  async readElement(
    uri: string,
    elementId: string,
    options: ReadResourceOptions & FormatOptions = {},
  ): Promise<DPEElementDetail> {
    const { format, ...rest } = options;
    const element = elementUri(uri, elementId, { format });
    return readElement({ ...await this.#readDocument(element, rest), format });
  }

  async #readDocument(uri: string, options: ReadResourceOptions): Promise<DocumentAnswer> {
    return {
      uri,
      result: await this.readResource(uri, options),
      onFlaws: (fields) => this.#requests.warn("document has flaws", { uri, ...fields }),
    };
  }
}
