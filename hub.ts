/**
 * The hub as a program: a Server and, on the same port, the gateway to its offices for any number of MCP clients. It has no
 * exports.
 *
 * It needs what the Server needs, and the permission to read the files of its options. `--help` lists the options.
 *
 * ```sh
 * deno run --allow-net --ignore-env --allow-read=tokens.txt,clients.txt hub.ts --token-file tokens.txt \
 *   --mcp-token-file clients.txt
 * ```
 *
 * @module
 */
if (import.meta.main) {
  const { runHubCli } = await import("./src/cli/hub/main.ts");
  Deno.exit(await runHubCli(Deno.args));
}
