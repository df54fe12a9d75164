/** Declares `mcp`, the command that serves the office to MCP clients. Loads nothing of the gateway. */
import { Argument, type Command, Option } from "commander";
import { CLIENT_NAMES, type ClientName, LINK_CLIENTS, type LinkClient } from "./install/clients.ts";
import type { EntryConnection, McpOptions } from "./install/entry.ts";
import type { ChangeOptions, EntryPlace } from "./install/install.ts";
import { declareHttp } from "../../http_service.ts";
import { presentingOptions } from "../../gateway_options.ts";
import { parsePublicUrl, resourceServerOptions } from "../../resource_server.ts";
import { collect, parseSeconds, SPACES_NEED_QUOTES } from "../../options.ts";
import { UsageError } from "../../outcome.ts";

const DEFAULT_ENTRY_NAME = "a2c";
const DOCUMENTS_ENTRY_NAME = "documents";

const ENTRY_URL =
  "the URL of an office at a hub, such as https://hub.example.com/mcp/o/lab, or of a gateway over HTTP";

const ENTRY_NAME =
  `the name of the entry (default: ${DEFAULT_ENTRY_NAME}, or ${DOCUMENTS_ENTRY_NAME} with --documents)`;

type Change = Omit<ChangeOptions, "as"> & Partial<Pick<ChangeOptions, "as">>;

const HTTP_PATHS = "/mcp, /mcp/search and /mcp/c/COMPUTER, and for each office at /mcp/o/OFFICE";

// Loaded when the file of a client is changed.
const installing = () => import("./install/install.ts");

export function addMcpCommand(
  program: Command,
  { connection, serve }: {
    readonly connection: () => EntryConnection;
    readonly serve: (options: McpOptions) => Promise<void>;
  },
): void {
  const mcp = program.command("mcp")
    .description(
      "serve the office to an MCP client on standard input and output, or to many over HTTP; repeat --computer to " +
        "choose Computers",
    )
    .option("--no-builtin-tools", "leave out list_computers, view_desktop, find_documents and read_document")
    .addOption(
      new Option(
        "--search-fetch <when>",
        "offer search and fetch over documents and windows: auto to clients of OpenAI, always, or never",
      )
        .choices(["auto", "always", "never"]).default("auto").env("A2C_SEARCH_FETCH"),
    )
    .addOption(
      new Option("--state <file>", "a file that keeps the names of tools, and what was called, over restarts")
        .env("A2C_STATE"),
    )
    .addOption(
      new Option("--timeout <seconds>", "how long a call may take without progress (default: 300)")
        .argParser(parseSeconds),
    );
  for (const option of presentingOptions()) mcp.addOption(option);
  declareHttp(mcp, {
    prefix: "A2C_GATEWAY",
    paths: HTTP_PATHS,
    more: [publicUrlOption(), ...resourceServerOptions({ prefix: "A2C_GATEWAY" })],
  });
  mcp
    .option("--activity-arguments", "write the arguments of calls into the activity log, too")
    .addOption(
      new Option(
        "--documents <dir>",
        "of install, uninstall, link and --print-config: the entry of this folder of documents, without an office; " +
          "repeatable",
      ).argParser(collect),
    )
    .option("--print-config", "print the entry for the file of an MCP client, and serve nobody", false)
    .action(async (options: McpOptions) => {
      if (options.printConfig) return (await installing()).printConfig(placeOf(undefined), nameOf({}));
      if (options.documents === undefined) return await serve(options);
      throw new UsageError('Cannot serve --documents here: "a2c-smcp documents DIR" serves them to a client');
    });
  const placeOf = (url: string | undefined): EntryPlace => {
    const gateway = mcp.opts<McpOptions>();
    const { documents } = gateway;
    if (documents !== undefined && url !== undefined) {
      if (!URL.canParse(url)) throw new UsageError(`Cannot use "${url}": ${SPACES_NEED_QUOTES}`);
      throw new UsageError("Cannot use --documents and a URL: an entry is for one of them");
    }
    if (documents !== undefined) return { documents };
    if (url === undefined) return { connection: connection(), gateway };
    const logs = ["activityLog", "activityArguments"] as const;
    if (logs.some((name) => gateway[name] !== undefined)) {
      throw new UsageError(
        "Cannot use --activity-log with a URL: the hub or gateway there writes it, when it is started with the option",
      );
    }
    return { url, caFile: mcp.optsWithGlobals<{ readonly caFile?: string }>().caFile };
  };
  const nameOf = ({ as }: { readonly as?: string }) =>
    as ?? (mcp.opts<McpOptions>().documents === undefined ? DEFAULT_ENTRY_NAME : DOCUMENTS_ENTRY_NAME);
  changing(
    mcp.command("install").description(
      "write the entry of the gateway, or of the MCP server at a URL, into the file of an MCP client",
    ),
  )
    .argument("[url]", ENTRY_URL)
    .action(async (client: ClientName, url: string | undefined, change: Change) => {
      await (await installing()).installInto(client, placeOf(url), { ...change, as: nameOf(change) });
    });
  mcp.command("link")
    .description(
      "print the link that adds the gateway, or the MCP server at a URL, to a client with one click",
    )
    .addArgument(new Argument("<client>", "the MCP client").choices(LINK_CLIENTS))
    .argument("[url]", ENTRY_URL)
    .option("--as <name>", ENTRY_NAME)
    .action(async (client: LinkClient, url: string | undefined, named: { readonly as?: string }) => {
      await (await installing()).printLink(client, placeOf(url), nameOf(named));
    });
  changing(mcp.command("uninstall").description("remove the entry again"))
    .action(async (client: ClientName, change: Change) => {
      await (await installing()).uninstallFrom(client, { ...change, as: nameOf(change) });
    });
}

function publicUrlOption(): Option {
  return new Option(
    "--public-url <url>",
    "the origin at which clients reach this port, such as https://office.example.com",
  ).argParser(parsePublicUrl).env("A2C_GATEWAY_PUBLIC_URL");
}

function changing(command: Command): Command {
  return command
    .addArgument(new Argument("<client>", "the MCP client").choices(CLIENT_NAMES))
    .option("--as <name>", ENTRY_NAME)
    .option("--dry-run", "show the change, and write nothing", false)
    .option("--yes", "write without asking", false)
    .option("--file <path>", "the client's file, if it is not the usual one");
}
