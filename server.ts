/**
 * The Server as a program, whose `--help` shows all options. It needs the network, and of the environment only what it
 * is given:
 *
 * ```sh
 * deno run --allow-net --ignore-env server.ts --host 127.0.0.1 --port 3000
 * deno run --allow-net --ignore-env --allow-env=PORT,A2C_TOKEN server.ts --host 0.0.0.0
 * deno run --allow-net --ignore-env --allow-read=tokens.txt server.ts --host 0.0.0.0 --token-file tokens.txt
 * ```
 *
 * The library is `@a2c-smcp/sdk/server`. This module has no exports.
 *
 * @module
 */
import { runServerCli } from "./src/cli/server/main.ts";

if (import.meta.main) Deno.exit(await runServerCli(Deno.args));
