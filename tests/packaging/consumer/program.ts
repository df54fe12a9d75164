/**
 * A program with a Server and an Agent, as somebody writes it who has the package from npm:
 * `node program.js A2C_SMCP CONFIG DOCUMENTS`. It starts a Computer by the installed command and prints what it got as JSON.
 */
import { createGateway, createHttpHandler } from "@a2c-smcp/sdk/gateway";
import { createToolkit } from "@a2c-smcp/sdk/toolkits";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { parseDpeUri, SmcpError } from "@a2c-smcp/sdk";
import { Agent, type RemoteComputer } from "@a2c-smcp/sdk/agent";
import { SmcpServer, staticTokens } from "@a2c-smcp/sdk/server";

const DEADLINE_MS = 60_000;
const [command = "", config = "", folder = ""] = process.argv.slice(2);

const server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
const agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", token: "s3cret" });
const came = Promise.withResolvers<string>();
agent.on("enterOffice", ({ name }) => came.resolve(name));

const computer = startComputer();
try {
  const deadline = setTimeout(() => came.reject(new Error("no Computer came into the office")), DEADLINE_MS);
  computer.on("exit", (code) => came.reject(new Error(`the Computer ended with ${code}`)));
  const laptop = agent.computer(await came.promise);
  clearTimeout(deadline);
  const { content } = await laptop.callTool("greet", {});
  const windows = await laptop.getDesktop();
  const { documents } = await laptop.getFinder();
  const uri = documents.find(({ title }) => title !== "Harvest")?.uri ?? "";
  const harvest = await readHarvest(laptop);
  const page = await laptop.readPage(uri, 0, { format: "text" });
  const kit = createToolkit(agent);
  const { greet } = await kit.aiTools();
  const greeting = await greet?.execute({}, {});
  const [called] = (await kit.call("greet", {})).content;
  if (called?.type !== "text" || called.text.length === 0) throw new Error("greet gave no text");
  const tools = (await kit.tools()).map(({ name }) => name);
  const isPrompted = (await kit.prompt()).includes("window://com.example.shop");
  kit[Symbol.dispose]();
  const gateway = await answerOfGateway();
  const refusal = await laptop.readPage(uri, 9).catch((error: unknown) => error);
  console.log(JSON.stringify({
    runtime: process.version,
    computer: laptop.name,
    content,
    windows,
    host: parseDpeUri(uri).host,
    page: page.content_text,
    harvest,
    toolkit: { tools, greeting: greeting?.content, isPrompted },
    gateway,
    refused: refusal instanceof SmcpError ? refusal.code : undefined,
  }));
} finally {
  const ended = once(computer, "exit");
  computer.kill("SIGTERM");
  await ended;
  await agent.close();
  await server.close();
}

/** The status with which a gateway over HTTP answers a client that begins. */
async function answerOfGateway(): Promise<number> {
  const gateway = createGateway(agent);
  const handler = createHttpHandler(gateway);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const { status } = await handler.fetch(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        "host": "localhost",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
    }),
  );
  await handler.close();
  await gateway.close();
  return status;
}

/** Reads the document of the folder as soon as the Computer has found it. */
async function readHarvest(laptop: RemoteComputer): Promise<string | null | undefined> {
  for (;;) {
    const changed = Promise.withResolvers<void>();
    using _listening = agent.on("updateFinder", () => changed.resolve());
    const { documents: [report] } = await laptop.getFinder({ keywords: ["harvest"] });
    if (report !== undefined) {
      return (await laptop.readPage(report.uri, 0, { format: "text" })).content_text;
    }
    const deadline = setTimeout(() => changed.reject(new Error("no document was found")), DEADLINE_MS);
    await changed.promise.finally(() => clearTimeout(deadline));
  }
}

function startComputer(): ChildProcess {
  const where = ["--url", server.url, "--office", "lab", "--name", "laptop", "--token", "s3cret"];
  return spawn(command, [
    "computer",
    ...where,
    "--config",
    config,
    "--documents",
    folder,
    "--auto-apply",
    "--headless",
  ], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}
