/**
 * The Computer: hosts MCP servers and offers their tools, windows and documents to the Agent of an office.
 *
 * ```ts
 * import { Computer } from "@a2c-smcp/sdk/computer";
 *
 * export async function offerTools(url: string): Promise<Computer> {
 *   const computer = Computer.open({
 *     name: "laptop",
 *     config: { servers: { shop: { type: "stdio", server_parameters: { command: "shop-mcp-server" } } } },
 *     confirm: ({ tool }) => tool !== "delete_everything",
 *   });
 *   await computer.join({ url, office: "lab" });
 *   return computer; // close() it, or declare it with `await using`
 * }
 * ```
 *
 * Also a program: a prompt at a terminal, a service without one, and single commands. Library and program need the
 * network, the files and programs of what they host, and the environment that their MCP servers inherit from:
 *
 * ```sh
 * deno run --allow-net --allow-env --allow-run --allow-read computer.ts \
 *   --url http://127.0.0.1:3000 --office lab --name laptop --config mcp.json
 * ```
 *
 * `--allow-write` is for what it writes: the config file (`server add`), the history of the prompt
 * (`$XDG_STATE_HOME`), and the socket for commands of other processes (`$XDG_RUNTIME_DIR`). That socket also needs
 * `--allow-read` and `--allow-net`. A command for a running Computer needs no more than its folder and its socket:
 *
 * ```sh
 * deno run --allow-env --allow-read=$XDG_RUNTIME_DIR/a2c-smcp-$USER --allow-write=$XDG_RUNTIME_DIR/a2c-smcp-$USER \
 *   --allow-net=unix:$XDG_RUNTIME_DIR/a2c-smcp-$USER/laptop.sock computer.ts status --name laptop
 * ```
 *
 * When a flag is missing, the error message names it.
 *
 * @module
 */
export { Computer } from "./src/computer/computer.ts";
export { type LocalCompleteOptions, LocalMcp, type LocalPageOptions } from "./src/computer/local_mcp.ts";
export type { ComputerOptions, LocalCallOptions } from "./src/computer/options.ts";
export type { LocalRequestOptions } from "./src/computer/shared/shared_parts.ts";
export { type ComputerConfig, parseConfig, parseConfigText } from "./src/config/config.ts";
export { readConfigFile } from "./src/config/file.ts";
export type { ConfigForm } from "./src/config/form.ts";
export { ConfigError, type ConfigProblem } from "./src/config/problem.ts";
export type { ReadingOptions } from "./src/config/reading.ts";
export type { ConfigFormat } from "./src/config/text.ts";
export type { ConfigOrigin } from "./src/config/foreign/variables.ts";
export type { Confirm, Confirmed, ConfirmRequest } from "./src/computer/tools/confirmation.ts";
export type { ApprovalStore } from "./src/computer/tools/approved_tools.ts";
export type { ToolChange, ToolDefinition } from "./src/computer/tools/tool_changes.ts";
export {
  type ComputerSignIns,
  fileTokenStore,
  openSignIns,
  type SignInsOptions,
} from "./src/computer/sign_ins.ts";
export type {
  AnswerQuestion,
  QuestionContext,
  QuestionedCall,
  QuestionRequest,
} from "./src/computer/questions/question.ts";
export type { ResolveDpe, ResolveDpeTools } from "./src/computer/resources/resolve_dpe.ts";
export type {
  AgentReadRecord,
  AwaitedPerson,
  ComputerEvent,
  HistoryEntry,
  HistoryRecord,
  RunningToolCall,
  ToolCaller,
  ToolCallOutcome,
  ToolCallRecord,
} from "./src/computer/shared/computer_events.ts";
export type { OwnerTool } from "./src/computer/tools/directory.ts";
export type { ChangedTool } from "./src/computer/tools/approved_tools.ts";
export type { ComputerCalls } from "./src/computer/tools/owner_calls.ts";
export type { ConfigChange } from "./src/computer/host.ts";
export {
  environmentInputs,
  type EnvironmentLookup,
  type InputRequest,
  type InputSource,
} from "./src/computer/inputs/sources.ts";
export type { FolderLimits } from "./src/computer/uploads/landing_folder.ts";
export type { SessionLimits } from "./src/computer/uploads/upload.ts";
export type { UploadLimits, UploadOptions } from "./src/computer/uploads/uploads.ts";
export type {
  BlobLimits,
  CallLimits,
  ComputerLimits,
  ListLimits,
  QuestionLimits,
  ReadLimits,
} from "./src/config/limits.ts";
export type {
  ConnectionState,
  ConnectOptions,
  JoinOptions,
  UpdateKind,
} from "./src/computer/office/office_link.ts";
export type { InputValue } from "./src/config/placeholders.ts";
export type { RetryOptions } from "./src/link/retry.ts";
export type { CredentialsSource, SentCredentials, ServerAccess } from "./src/link/credentials.ts";
export type { LogFields, Logger } from "./src/log.ts";
export type {
  BrowserSignIn,
  DeviceSignIn,
  ServiceSignIn,
  SignIn,
  SignInOptions,
  SignInStatus,
  SignOutResult,
} from "./src/mcp/auth/sign_in.ts";
export {
  memoryTokenStore,
  type OAuthClient,
  type OAuthTokens,
  type ProofKey,
  type SignInKey,
  type StoredSignIn,
  type TokenKeychain,
  type TokenStore,
} from "./src/mcp/auth/token_store.ts";
export { SignInError } from "./src/mcp/errors.ts";
export type { ServerLimits } from "./src/mcp/limits.ts";
export type { Progress } from "./src/mcp/call_options.ts";
export type { CallTimeouts } from "./src/protocol/call.ts";
export type { ServerState, ServerStatus } from "./src/mcp/supervision/server_state.ts";
export type { FinderQueryOptions } from "./src/organizer/finder.ts";
export type {
  BaseMCPServerConfig,
  IdentityProviderSettings,
  InputPlaceholder,
  MCPServerCommandInput,
  MCPServerConfig,
  MCPServerInput,
  MCPServerInputBase,
  MCPServerPickStringInput,
  MCPServerPromptStringInput,
  MCPServerStdioConfig,
  MCPServerStdioParameters,
  MCPServerStreamableHttpConfig,
  MCPServerStreamableHttpParameters,
  MCPSSEConfig,
  MCPSSEParameters,
  NetworkMCPServerConfig,
  OAuthSettings,
  SandboxSettings,
  SentComputerConfig,
  ShownInput,
} from "./src/protocol/config.ts";
export type { McpServerAbout, McpServerInfo } from "./src/protocol/mcp_servers.ts";
export type {
  Completion,
  CompletionTarget,
  PromptPage,
  ResourcePage,
  ResourceTemplatePage,
} from "./src/protocol/pages.ts";
export type { GetPromptRet, PromptArgument, PromptInfo, PromptMessage } from "./src/protocol/prompts.ts";
export type { ResourceTemplateInfo } from "./src/protocol/resource_templates.ts";
export { checkContent, type CheckedContent, fieldProblem } from "./src/protocol/form_answer.ts";
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  FieldBase,
  FieldOption,
  NumberField,
  QuestionField,
  TextField,
  TextFormat,
} from "./src/protocol/question_form.ts";
export type { Answer, FieldValue } from "./src/protocol/questions.ts";
export type { DpeResource, ReadResourceRet, ResourceContents } from "./src/protocol/resources.ts";
export type {
  Attributes,
  AttributeValue,
  SERVER_NAME,
  SMCPTool,
  TOOL_NAME,
  ToolMeta,
} from "./src/protocol/tools.ts";
export type { ProtocolMinor } from "./src/protocol/version.ts";

export type { ComputerSkills, LocalSkillFile, LocalSkillOptions } from "./src/computer/skills/reading.ts";
export type { SkillListing, SkillProblem } from "./src/computer/skills/folder.ts";
export type { SkillRef } from "./src/protocol/skills.ts";
if (import.meta.main) {
  const { runComputerCli } = await import("./src/cli/computer/main.ts");
  Deno.exit(await runComputerCli(Deno.args));
}
