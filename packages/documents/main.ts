/**
 * The program: an MCP server that makes the files of folders documents. It has no exports.
 *
 * ```sh
 * deno run --ignore-env --allow-read=$HOME/Reports --allow-run main.ts $HOME/Reports
 * ```
 *
 * It speaks MCP on standard input and output; with `--http PORT` it serves any number of clients over HTTP. A Computer
 * starts it by itself for an entry `{ "type": "documents", "folders": ["~/Reports"] }` of its configuration.
 *
 * @module
 */
import { runDocumentsCli } from "./src/program.ts";

if (import.meta.main) Deno.exit(await runDocumentsCli(Deno.args));
