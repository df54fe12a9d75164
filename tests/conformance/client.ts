/**
 * The program that the public conformance suite leads: a Computer with one MCP server, and the person in front of it.
 * The person signs in where the server asks for it, and answers each question of a call with its defaults. The program
 * calls each tool, reads each resource, gets each prompt, and ends with 1 unless all of it worked.
 *
 * Usage: `deno run -A tests/conformance/client.ts URL`
 */
import { Computer, type ServerState, type SMCPTool } from "../../computer.ts";
import { createLogger, parseLogLevels } from "../../src/log.ts";
import { ErrorCode } from "../../src/protocol/error_codes.ts";
import { eventually } from "../fixtures/within.ts";

/** How often the person signs in before they give up. */
const MAX_SIGN_INS = 3;
/** How often the Computer may try the server anew before that counts as a failure. */
const MAX_RESTARTS = 2;
/** The description of a client that the suite knows by its address. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** What a scenario's tools are called with, by the type of a parameter. */
const ARGUMENTS: Readonly<Record<string, unknown>> = { number: 2, integer: 2, string: "two", boolean: true };

/** What the suite tells about a scenario. */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly issuer?: string;
  readonly valid_jwt?: string;
  readonly idp_issuer?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly toolCalls?: readonly ToolCall[];
}

interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const [url = ""] = Deno.args.slice(-1);
const scenario = Deno.env.get("MCP_CONFORMANCE_SCENARIO") ?? "";
const revision = Deno.env.get("MCP_CONFORMANCE_PROTOCOL_VERSION") ?? "";
const context: Context = JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}");

await using computer = Computer.open({
  name: "conformance",
  config: {
    servers: {
      suite: {
        type: "streamable",
        default_tool_meta: { auto_apply: true },
        mcp_version: revision === "2026-07-28" ? "2026" : "2025",
        oauth: toOAuth(context),
        server_parameters: { url },
      },
    },
  },
  // Fields without an answer get their defaults.
  answerQuestion: () => ({ action: "accept", content: {} }),
  logger: createLogger({ levels: parseLogLevels("debug") }),
});

let signIns = 0;
await untilRunning();
const calls = context.toolCalls?.map(withoutNull) ?? computer.tools.filter(isEasyToCall).map(toCall);
for (const call of calls) await callTool(call);
await readAll();

/** Waits until the server runs, and signs in as often as it needs. */
async function untilRunning(): Promise<void> {
  while (true) {
    await eventually(() => computer.servers.get("suite"), isSettled, "the server of the suite");
    // A server may open its session to anybody, and refuse to list its tools.
    await computer.ready();
    const state = computer.servers.get("suite");
    if (state?.status === "running") return;
    if (state?.status !== "needs sign-in") throw new TypeError(`Cannot use the server: ${state?.lastError}`);
    await signIn();
  }
}

function isSettled(state: ServerState | undefined): boolean {
  if (state?.status === "starting") return false;
  return state?.status !== "retrying" || state.restarts > MAX_RESTARTS;
}

/** Follows the sign-in as a browser does in which somebody agrees at once. */
async function signIn(): Promise<void> {
  if (++signIns > MAX_SIGN_INS) throw new TypeError("Cannot use the server: no sign-in is enough");
  const signIn = await computer.signIns.start("suite");
  if (signIn.kind === "browser") {
    const { headers, body } = await fetch(signIn.url, { redirect: "manual" });
    await body?.cancel();
    await signIn.finish(headers.get("location") ?? "");
  }
  await signIn.finished;
}

/** Calls a tool, and once more after each sign-in that the call turned out to need. */
async function callTool({ name, arguments: args }: ToolCall): Promise<void> {
  while (true) {
    const { isError, content, meta } = await computer.callTool(name, args, { timeoutMs: 10_000 });
    if (isError !== true) return;
    if (meta?.["error_code"] !== ErrorCode.TOOL_AUTHORIZATION_REQUIRED) {
      throw new TypeError(`Cannot call tool "${name}": ${JSON.stringify(content)}`);
    }
    await signIn();
    await untilRunning();
  }
}

/** Reads the resources and prompts of a server that has any. */
async function readAll(): Promise<void> {
  const [{ capabilities } = {}] = computer.mcp.getMcpServers({ mcpServer: "suite" });
  if (capabilities?.["resources"] !== undefined) {
    const { resources } = await computer.mcp.getResources("suite");
    for (const { uri } of resources) await computer.readResource(uri, { mcpServer: "suite" });
  }
  if (capabilities?.["prompts"] !== undefined) {
    const { prompts } = await computer.mcp.getPrompts("suite");
    for (const { name } of prompts) await computer.mcp.getPrompt(name, {}, { mcpServer: "suite" });
  }
}

/** The call of a tool with an argument for each parameter; one for a schema gets that of another tool. */
function toCall({ name, params_schema }: SMCPTool): ToolCall {
  const properties = Object.entries(params_schema["properties"] ?? {});
  const schema = computer.tools.find((other) => other.name !== name)?.params_schema;
  const args = properties.map(([name, { type }]) => [name, type === "object" ? schema : ARGUMENTS[type]]);
  return { name, arguments: Object.fromEntries(args) };
}

/** Whether arguments of the right types are enough; a tool with a reference to elsewhere is there to be listed. */
function isEasyToCall({ params_schema }: SMCPTool): boolean {
  return !("allOf" in params_schema) && !JSON.stringify(params_schema).includes('"$ref":"http');
}

/** A Computer refuses `null` for a parameter of another type, and MCP treats it like an argument that is not there. */
function withoutNull({ name, arguments: args }: ToolCall): ToolCall {
  return { name, arguments: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) };
}

/** The client that the scenario has registered; without one, the Computer finds out how to become one. */
function toOAuth(context: Context): unknown {
  const { client_id, client_secret, private_key_pem, signing_algorithm, issuer, valid_jwt } = context;
  const { idp_issuer, idp_client_id, idp_id_token } = context;
  const identityProvider = { issuer: idp_issuer, clientId: idp_client_id, idToken: idp_id_token };
  return {
    ...(client_id ? { clientId: client_id } : { clientMetadataUrl: CLIENT_METADATA_URL }),
    ...(client_secret && { clientSecret: client_secret }),
    ...(private_key_pem && { privateKey: private_key_pem }),
    ...(signing_algorithm && { keyAlgorithm: signing_algorithm }),
    ...(issuer && { issuer }),
    ...(scenario.startsWith("auth/client-credentials") && { grant: "client_credentials" }),
    ...(valid_jwt && { grant: "jwt_bearer", assertion: valid_jwt }),
    ...(idp_issuer && { grant: "jwt_bearer", identityProvider }),
  };
}
