/** A web page with an Agent, as somebody writes it who has the package from npm. The test calls it by these functions. */
import { createToolkit } from "@a2c-smcp/sdk/toolkits";
import { OfficeGroup } from "@a2c-smcp/sdk/group";
import { parseDpeUri } from "@a2c-smcp/sdk";
import { Agent, type AgentOptions, type LogFields, ProtocolVersionError } from "@a2c-smcp/sdk/agent";

/** Uses all of a Computer, and gives what the page got. */
async function visit(options: AgentOptions) {
  await using agent = await Agent.connect(options);
  const [laptop] = (await agent.listOffice())
    .filter(({ role }) => role === "computer")
    .map(({ name }) => agent.computer(name));
  if (laptop === undefined) throw new Error("No Computer is in the office");
  const tools = (await laptop.getTools()).map(({ name }) => name);
  const { content } = await laptop.callTool("kiosk__echo", { text: "hi" });
  const changed = Promise.withResolvers<string>();
  using _ = agent.on("updateDesktop", ({ computer }) => changed.resolve(computer));
  await laptop.callTool("kiosk__show", { text: "Open" });
  const news = await changed.promise;
  const windows = await laptop.getDesktop();
  const { documents: [menu] } = await laptop.getFinder();
  const page = await laptop.readPage(menu?.uri ?? "", 0, { format: "text" });
  await using group = new OfficeGroup([{ label: options.office, agent }]);
  using kit = createToolkit(group);
  const { kiosk__echo: echo } = await kit.aiTools();
  const answer = await echo?.execute({ text: "ho" }, {});
  const bytes = new Uint8Array(300_000).fill(7);
  const file = await laptop.putBlob(new File([bytes], "sevens.bin"));
  const array = await laptop.putBlob(bytes);
  const stream = await laptop.putBlob(new Blob([bytes]).stream());
  return {
    protocol: agent.protocolVersion,
    tools: tools.filter((name) => ["kiosk__echo", "kiosk__show"].includes(name)).sort(),
    content,
    news,
    windows,
    host: parseDpeUri(menu?.uri ?? "").host,
    page: page.content_text,
    answer: answer?.content,
    isPrompted: (await kit.prompt()).includes("window://"),
    path: file.landingPath,
    checksums: [file, array, stream].map(({ sha256 }) => sha256),
  };
}

/** What `Agent.connect()` rejects with, or why it would try again. */
async function fail(options: AgentOptions) {
  const retrying = new AbortController();
  const logger = {
    debug() {},
    info() {},
    warn(message: string, { error }: LogFields = {}) {
      if (error !== undefined) retrying.abort(new Error(`${message}: ${error}`));
    },
    error() {},
  };
  try {
    await using _agent = await Agent.connect({ ...options, logger, signal: retrying.signal });
    return { name: "none", message: "connected", code: undefined };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { name, message } = error;
    const code = error instanceof ProtocolVersionError
      ? error.refusal.code
      : "serverCode" in error
      ? error.serverCode
      : undefined;
    return { name, message, code };
  }
}

/** What the page can read of an address. */
async function read(url: string) {
  const response = await fetch(url).catch(() => undefined);
  return { status: response?.status ?? 0, body: await response?.text() ?? "" };
}

Object.assign(globalThis, { visit, fail, read });
