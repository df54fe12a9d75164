/** The MCP clients whose configuration the gateway writes itself into. */
import { join } from "@std/path";
import { UsageError } from "../../../outcome.ts";
import type { ClientEntry } from "./entry.ts";

export const CLIENT_NAMES = ["claude", "claude-code", "vscode", "cursor", "codex"] as const;
export type ClientName = typeof CLIENT_NAMES[number];

export interface McpClient {
  readonly title: string;
  /** The file for all projects of this user. */
  readonly file: string;
  /** The member of the file that holds the servers. */
  readonly member: string;
  readonly format: "json" | "toml";
  /** Whether the client reads neither comments in its JSON nor a comma before a closing bracket. */
  readonly isStrict: boolean;
  /** Whether an entry says how its MCP server is reached. */
  readonly isTyped: boolean;
  /** Whether an entry may be the URL of an MCP server. */
  readonly readsUrls: boolean;
  readonly then: string;
  readonly thenRemoved: string;
}

/**
 * The client on this machine.
 *
 * @throws {UsageError} when this user has no home.
 */
export function clientOf(name: ClientName): McpClient {
  const home = homeFolder();
  switch (name) {
    case "claude": {
      const folder = packagedFolder("Claude_", home) ?? applicationFolder(home);
      const file = join(folder, "Claude", "claude_desktop_config.json");
      return { ...USUAL, title: "Claude Desktop", file, isStrict: true, readsUrls: false };
    }
    case "claude-code":
      return {
        ...USUAL,
        title: "Claude Code",
        file: join(Deno.env.get("CLAUDE_CONFIG_DIR") ?? home, ".claude.json"),
        isStrict: true,
        isTyped: true,
        then: "New sessions have it; /mcp shows it.",
        thenRemoved: OLD_SESSIONS,
      };
    case "vscode":
      return {
        ...USUAL,
        title: "VS Code",
        file: join(applicationFolder(home), "Code", "User", "mcp.json"),
        member: "servers",
        isTyped: true,
        then: 'Start it with "MCP: List Servers".',
        thenRemoved: "Reload the window to see the change.",
      };
    case "cursor":
      return { ...USUAL, title: "Cursor", file: join(home, ".cursor", "mcp.json") };
    case "codex":
      return {
        ...USUAL,
        title: "Codex",
        file: join(Deno.env.get("CODEX_HOME") ?? join(home, ".codex"), "config.toml"),
        member: "mcp_servers",
        format: "toml",
        then: "New sessions have it.",
        thenRemoved: OLD_SESSIONS,
      };
  }
}

const RESTART = "Restart it to see the change.";
const OLD_SESSIONS = "Sessions that run keep it until they end.";
/** What most clients have in common. */
const USUAL = {
  member: "mcpServers",
  format: "json",
  isStrict: false,
  isTyped: false,
  readsUrls: true,
  then: RESTART,
  thenRemoved: RESTART,
} as const;

function homeFolder(): string {
  const home = Deno.env.get(Deno.build.os === "windows" ? "USERPROFILE" : "HOME");
  if (home === undefined || home === "") {
    throw new UsageError("Cannot find the client's file: this user has no home; name the file with --file");
  }
  return home;
}

/** Where programs with windows keep their settings. */
function applicationFolder(home: string): string {
  switch (Deno.build.os) {
    case "darwin":
      return join(home, "Library", "Application Support");
    case "windows":
      return Deno.env.get("APPDATA") ?? join(home, "AppData", "Roaming");
    default:
      return Deno.env.get("XDG_CONFIG_HOME") ?? join(home, ".config");
  }
}

/** Where a program keeps its settings that Windows has installed as a package (MSIX): it sees no file beside. */
function packagedFolder(prefix: string, home: string): string | undefined {
  if (Deno.build.os !== "windows") return undefined;
  const packages = join(Deno.env.get("LOCALAPPDATA") ?? join(home, "AppData", "Local"), "Packages");
  try {
    const name = [...Deno.readDirSync(packages)].find(({ name }) => name.startsWith(prefix))?.name;
    return name === undefined ? undefined : join(packages, name, "LocalCache", "Roaming");
  } catch {
    return undefined; // no package is installed
  }
}

export const LINK_CLIENTS = ["cursor", "vscode", "lmstudio"] as const;
export type LinkClient = typeof LINK_CLIENTS[number];

/** The link by which a person adds the entry with one click; the client shows it and asks first. */
export function installLink(
  client: LinkClient,
  { name, entry }: { readonly name: string; readonly entry: ClientEntry },
): string {
  switch (client) {
    case "cursor":
      return `cursor://anysphere.cursor-deeplink/mcp/install?${namedQuery(name, entry)}`;
    case "lmstudio":
      return `lmstudio://add_mcp?${namedQuery(name, entry)}`;
    case "vscode": {
      const type = "url" in entry ? "http" : "stdio";
      return `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, type, ...entry }))}`;
    }
  }
}

function namedQuery(name: string, entry: ClientEntry): string {
  const config = new TextEncoder().encode(JSON.stringify(entry)).toBase64();
  return `name=${encodeURIComponent(name)}&config=${encodeURIComponent(config)}`;
}
