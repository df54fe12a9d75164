/**
 * The Agent as a program. It needs the network, and of the environment only what it is given:
 *
 * ```sh
 * deno run --allow-net --ignore-env agent.ts --url http://127.0.0.1:3000 --office lab --name ada tools
 * ```
 *
 * The library is `@a2c-smcp/sdk/agent`. This module has no exports, so that `--help` starts fast.
 *
 * @module
 */
import { runAgentCli } from "./src/cli/agent/main.ts";

if (import.meta.main) Deno.exit(await runAgentCli(Deno.args));
