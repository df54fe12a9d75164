/**
 * The Computer as a program: a prompt at a terminal, a service without one, and single commands. It needs the network,
 * the files and programs of what it hosts, and the environment that its MCP servers inherit from:
 *
 * ```sh
 * deno run --allow-net --allow-env --allow-run --allow-read computer.ts \
 *   --url http://127.0.0.1:3000 --office lab --name laptop --config mcp.json
 * ```
 *
 * `--allow-write` is for what it writes: `--dpe-files DIR`, the config file (`server add`), the history of the prompt
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
 * The library is `@a2c-smcp/sdk/computer`. This module has no exports: a command such as `status`, which is sent to a
 * running Computer, would have to load the library for them.
 *
 * @module
 */
import { runComputerCli } from "./src/cli/computer/main.ts";

if (import.meta.main) Deno.exit(await runComputerCli(Deno.args));
