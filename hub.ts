/**
 * The hub as a program: a Server and, on the same port, the gateway to its offices for any number of MCP clients. It has no
 * exports.
 *
 * It needs what the Server needs, and the permissions to read the files of its options, and to read and write the folder of its
 * state file. `--help` lists the options.
 *
 * ```sh
 * deno run --allow-net --ignore-env --allow-read=tokens.txt,state --allow-write=state hub.ts --token-file tokens.txt \
 *   --state-file state/hub.sqlite
 * ```
 *
 * @module
 */
if (import.meta.main) {
  const { runHubCli } = await import("./src/cli/hub/main.ts");
  Deno.exit(await runHubCli(Deno.args));
}
