/** The options that say where an Agent or a Computer connects. */
import { type Command, Option } from "commander";
import { DEFAULT_SOCKET_PATH } from "../protocol/server_address.ts";
import { type CredentialOptions, credentialOptions, preferGivenToken } from "./credentials.ts";
import { PROTOCOL_MINORS, type ProtocolMinor } from "../protocol/version.ts";
import { parseName, parseUrl } from "./options.ts";

/** Where a Computer or an Agent connects, under which name, and with which credentials. */
export interface ConnectionOptions extends CredentialOptions {
  readonly url: string;
  readonly office: string;
  readonly name: string;
  readonly path: string;
  readonly protocol?: ProtocolMinor;
}

/**
 * Adds `--url`, `--office`, `--name`, the credentials, `--path` and `--protocol`, each also from the environment. Commander
 * requires none of them, since it would then report a missing option before a misspelled command; call
 * `requireOptions` instead.
 */
export function addConnectionOptions(program: Command, role: "computer" | "agent"): void {
  for (const option of connectionOptions(role)) program.addOption(option);
  preferGivenToken(program);
}

function connectionOptions(role: "computer" | "agent"): Option[] {
  return [
    new Option("--url <url>", "the URL of the Server, such as http://127.0.0.1:3000").env("A2C_URL")
      .argParser(parseUrl),
    new Option("--office <office>", "the office to join").env("A2C_OFFICE").argParser(parseName),
    new Option("--name <name>", NAME_HELP[role]).env("A2C_NAME").argParser(parseName),
    ...credentialOptions(),
    new Option("--path <path>", "the Socket.IO path, relative to the path of the URL")
      .default(DEFAULT_SOCKET_PATH).env("A2C_PATH"),
    new Option("--protocol <version>", PROTOCOL_HELP[role]).choices(PROTOCOL_MINORS).env("A2C_PROTOCOL"),
  ];
}

const NAME_HELP = {
  agent: "the name of this Agent in the office",
  computer: "the name of this Computer in the office; a command reaches the second of a name by NAME@OFFICE",
};

const PROTOCOL_HELP = {
  agent: "the protocol version to speak (default: that of the office)",
  computer: 'the protocol version to speak (default: "protocol_version" of the config, or 0.2)',
};
