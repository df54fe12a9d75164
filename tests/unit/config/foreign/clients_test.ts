/** The files of many programs: each becomes the servers that its program would start, with no more warnings than due. */
import { assertEquals } from "@std/assert";
import { normalize } from "@std/path";
import { type ComputerConfig, parseConfigText } from "../../../../src/config/config.ts";
import type { ConfigOrigin } from "../../../../src/config/foreign/variables.ts";

const folder = new URL("../../../fixtures/configs/clients/", import.meta.url);
const origin: ConfigOrigin = { workspace: "/shop", home: "/home/me", cwd: "/srv/deep" };

function read(file: string): ComputerConfig {
  return parseConfigText(Deno.readTextFileSync(new URL(file, folder)), file, { origin });
}

/** A server on one line: `name: command args {variables}` or `name: transport url {headers}`, then what restricts it. */
function show({ servers }: ComputerConfig): string[] {
  return servers.map((server) => {
    const { type, server_parameters: parameters, disabled, allowed_tools, forbidden_tools } = server;
    const pairs = (values: Readonly<Record<string, unknown>> | null) =>
      values === null
        ? []
        : [`{${Object.entries(values).map(([name, value]) => `${name}=${value}`).join(", ")}}`];
    const words = type === "stdio"
      ? [parameters.command, ...parameters.args, ...pairs(parameters.env)]
      : [type, parameters.url, ...pairs(parameters.headers)];
    if (type === "stdio" && parameters.cwd !== null) words.push(`in ${parameters.cwd}`);
    if (type === "stdio" && parameters.env_file) words.push(`from ${parameters.env_file}`);
    if (disabled) words.push("(disabled)");
    if (allowed_tools) words.push(`only [${allowed_tools}]`);
    if (forbidden_tools.length > 0) words.push(`not [${forbidden_tools}]`);
    return `${server.name}: ${words.join(" ")}`;
  });
}

interface Case {
  readonly form: string;
  readonly servers: readonly string[];
  /** Line and path of each. */
  readonly warnings?: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  "continue_config.json": {
    form: "continue",
    servers: [
      "server-1: uvx mcp-server-sqlite --db-path /srv/shop.db",
      "server-2: streamable https://docs.example.com/mcp",
    ],
  },
  "amp_in_vscode_settings.jsonc": {
    form: "vscode",
    servers: ["time: uvx mcp-server-time"],
    warnings: ['4 ["amp.mcpServers"]'],
  },
  "amp_settings.jsonc": {
    form: "amp",
    servers: [
      "browser: npx browser-mcp@latest --headless only [navigate_*,click]",
      "remote: streamable https://remote.example.com/mcp {Authorization=Bearer ${env:REMOTE_TOKEN}}",
    ],
  },
  "bare.json": {
    form: "mcpServers",
    servers: ["figures: streamable https://figures.example.com/mcp", "local: local-mcp --quiet"],
  },
  "cherry_studio.json": {
    form: "mcpServers",
    servers: [
      "kq3xYz: streamable https://pictures.example.com/mcp {Authorization=Bearer made-up-token}",
      "a1: uvx mcp-server-fetch (disabled) not [post]",
    ],
  },
  "claude_projects.json": {
    form: "mcpServers",
    servers: ["same: own-mcp", "here: streamable https://here.example.com", "everywhere: everywhere-mcp"],
    warnings: ['7 projects["/srv"].mcpServers'],
  },
  "codex.toml": {
    form: "codex",
    servers: [
      "context: npx -y context-mcp {CONTEXT_HOME=${env:CONTEXT_HOME:-}, CONTEXT_KEY=made-up-key}",
      "design: streamable https://design.example.com/mcp {Authorization=Bearer ${env:DESIGN_TOKEN}, X-Region=us-east-1, X-Team=${env:DESIGN_TEAM}} only [open,screenshot] not [screenshot]",
      "browser tools: browser-mcp in /srv/browser (disabled)",
    ],
    warnings: ["9 mcp_servers.context.startup_timeout_sec", "21 mcp_servers.design.tool_timeout_sec"],
  },
  "continue.yaml": {
    form: "continue",
    servers: [
      "SQLite: uvx mcp-server-sqlite --db-path ./shop.db {SQLITE_KEY=${env:SQLITE_KEY}}",
      "Docs: streamable https://docs.example.com/mcp {X-Team=shop, Authorization=Bearer ${env:DOCS_KEY}}",
    ],
  },
  "continue_block.json": {
    form: "continue",
    servers: ["Browser: npx -y browser-mcp"],
    warnings: ["3 mcpServers[0].connectionTimeout"],
  },
  "copilot_cli.json": {
    form: "copilot",
    servers: [
      "browser: npx browser-mcp@latest",
      "issues: docker run -i --rm -e ISSUES_TOKEN issues-mcp {ISSUES_TOKEN=${env:COPILOT_MCP_ISSUES_TOKEN}, ISSUES_HOST=${env:COPILOT_MCP_ISSUES_HOST}} only [list_issues,get_issue]",
      "docs: streamable https://docs.example.com/mcp {X-Key=${env:COPILOT_MCP_DOCS_KEY}}",
      "old: sse https://old.example.com/sse only []",
    ],
  },
  "crush.json": {
    form: "crush",
    servers: [
      "files: node ${env:HOME}/files/index.js {MODE=production}",
      "github: streamable https://api.example.com/mcp/ {Authorization=Bearer ${input:command-1}, X-Org=${env:GH_ORG:-shop}} not [create_issue]",
      "stream: sse https://stream.example.com/mcp/sse {X-Key=${env:STREAM_KEY}} (disabled)",
    ],
    warnings: ["10 mcp.files.timeout"],
  },
  "cursor_env_file.json": { form: "mcpServers", servers: ["shop: shop-mcp from /shop/.env"] },
  "gemini_include.json": {
    form: "gemini",
    servers: [
      "github: streamable https://api.example.com/mcp/ {Authorization=Bearer ${env:GITHUB_MCP_PAT}} only [get_me,list_issues]",
    ],
  },
  "hermes.yaml": {
    form: "hermes",
    servers: [
      "files: npx -y files-mcp /srv/files",
      "notes: streamable https://notes.example.com/mcp {Authorization=Bearer ${env:NOTES_TOKEN}} only [search,read]",
    ],
    warnings: ["6 mcp_servers.files.timeout", "7 mcp_servers.files.connect_timeout"],
  },
  "jetbrains.json": {
    form: "vscode",
    servers: ["github: streamable https://api.example.com/mcp/ {Authorization=Bearer made-up-token}"],
  },
  "kilo.json": { form: "opencode", servers: ["search: uvx search-mcp {LIMIT=10}"] },
  "mcp_list.yaml": {
    form: "mcpServers",
    servers: ["filesystem: npx -y files-mcp /srv", "maps: sse https://maps.example.com/sse"],
  },
  "opencode.jsonc": {
    form: "opencode",
    servers: [
      "tickets: npx -y tickets-mcp --project shop {TICKETS_TOKEN=${env:TICKETS_TOKEN}, TICKETS_CA=${file:" +
      normalize("/shop/ca.pem") + "}}",
      "weather: streamable https://weather.example.com/mcp {Authorization=Bearer ${env:WEATHER_KEY}}",
      "events: sse https://events.example.com/sse (disabled)",
    ],
    warnings: ["11 mcp.tickets.timeout", "19 mcp.inherited"],
  },
  "shop.code-workspace": { form: "vscode", servers: ["shop: shop-mcp {KEY=${input:key}}"] },
  "vibe.toml": {
    form: "vibe",
    servers: [
      "search: streamable http://localhost:8000 {X-Trace=1, X-API-Key=${env:SEARCH_KEY}}",
      "stream: streamable http://localhost:8001/mcp {Authorization=Bearer ${env:STREAM_KEY}}",
      "fetch: uvx mcp-server-fetch",
      "listed: uvx listed-mcp",
    ],
  },
  "zed_settings.json": {
    form: "zed",
    servers: [
      "database: npx -y database-mcp postgres://localhost/shop {PGSSLMODE=disable}",
      "older: older-mcp serve {A=1}",
      "web: streamable https://web.example.com/mcp {Authorization=Bearer $WEB_TOKEN}",
    ],
    warnings: [
      "15 context_servers.older.settings",
      "20 context_servers.web.headers.Authorization",
      "22 context_servers.extension",
    ],
  },
  ".devcontainer/devcontainer.json": { form: "vscode", servers: ["browser: npx -y browser-mcp"] },
};

for (const [file, { form, servers, warnings = [] }] of Object.entries(CASES)) {
  Deno.test(`the servers of ${file} are read as its program reads them`, () => {
    const config = read(file);
    assertEquals(config.form, form);
    assertEquals(show(config), servers);
    assertEquals(config.warnings.map(({ line, path }) => `${line} ${path}`), warnings);
  });
}

Deno.test("each file of a program is tested", () => {
  const files = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name);
  assertEquals(files.filter((name) => !(name in CASES)), []);
});
