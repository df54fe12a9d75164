/**
 * The specification's example of windows (`docs/protocol/desktop.md#mcp-servers-with-windows`), with this kit.
 * An MCP server on stdio. With `--check` it is also its own client, checks the answers and exits:
 *
 * ```sh
 * deno run -A examples/provider/desktop.ts --check
 * ```
 */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { assertEquals } from "@std/assert";
import { provide } from "../../src/provider/mod.ts";
import { CheckingClient, serveStdio } from "./_check.ts";

const HOST = "com.example.myapp";
/** How many lines the console shows. */
const MAX_LINES = 100;

const server = new McpServer({ name: "myapp", version: "1.0.0" });
const provider = provide(server);
const lines = ["10:30:01 INFO 启动完成"];

// A window with a fixed text …
const status = provider.publishWindow({
  host: HOST,
  path: ["status"],
  name: "应用状态",
  description: "当前应用的运行状态",
  priority: 0.6,
  fullscreen: false,
  text: "运行中 | CPU: 45% | 内存: 2.1GB",
});
// … and a window whose text is built at each read.
const output = provider.publishWindow({
  host: HOST,
  path: ["console"],
  name: "控制台输出",
  description: "实时控制台日志",
  priority: 0.3,
  read: () => lines.join("\n"),
});

/** Appends a line to the log of the application. */
function log(line: string): void {
  lines.push(line);
  lines.splice(0, lines.length - MAX_LINES);
  output.update();
}

async function check(): Promise<void> {
  await using checking = await CheckingClient.beside(server);
  const { client } = checking;
  assertEquals((await client.listResources()).resources.map(({ uri, annotations }) => [uri, annotations]), [
    ["window://com.example.myapp/status", { priority: 0.6, audience: ["assistant"] }],
    ["window://com.example.myapp/console", { priority: 0.3, audience: ["assistant"] }],
  ]);
  assertEquals(await checking.text(status.uri), "运行中 | CPU: 45% | 内存: 2.1GB");

  await client.subscribeResource({ uri: status.uri });
  const updated = checking.next("notifications/resources/updated");
  status.update("空闲 | CPU: 2% | 内存: 1.8GB");
  assertEquals(await updated, { uri: status.uri });
  assertEquals(await checking.text(status.uri), "空闲 | CPU: 2% | 内存: 1.8GB");

  await client.subscribeResource({ uri: output.uri });
  const logged = checking.next("notifications/resources/updated");
  log("10:31:00 WARN 磁盘空间不足");
  assertEquals(await logged, { uri: output.uri });
  assertEquals(await checking.text(output.uri), "10:30:01 INFO 启动完成\n10:31:00 WARN 磁盘空间不足");

  const listChanged = checking.next("notifications/resources/list_changed");
  output.remove();
  await listChanged;
  assertEquals((await client.listResources()).resources.length, 1);
  console.log("Two windows were listed, read, updated and removed: all as the specification requires.");
}

if (import.meta.main) await (Deno.args.includes("--check") ? check() : serveStdio(server));
