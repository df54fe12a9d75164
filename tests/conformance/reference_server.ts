/**
 * The MCP server that the server scenarios of the conformance suite expect, as a program on stdio: the suite's
 * descriptions name its tools, resources and prompts, and what they answer. A Computer hosts it behind the gateway.
 */
import {
  acceptedContent,
  completable,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** A red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A sound of no length. */
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const text = (words: string) => ({ type: "text" as const, text: words });
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const said = (words: string) => ({ content: [text(words)] });

type FormSchema = Parameters<typeof inputRequired.elicit>[0]["requestedSchema"];

/** A form of these properties. */
function form(properties: Record<string, unknown>, required?: string[]): FormSchema {
  return { type: "object", properties, ...(required === undefined ? {} : { required }) } as FormSchema;
}

/** Asks for a form until it is accepted, and then says so. */
function asking(
  { key, message, requestedSchema }: {
    readonly key: string;
    readonly message: (args: Record<string, unknown>) => string;
    readonly requestedSchema: FormSchema;
  },
  answer: (content: Record<string, unknown>) => string,
) {
  return (args: Record<string, unknown>, { mcpReq }: ServerContext) => {
    const content = acceptedContent(mcpReq.inputResponses, key) as Record<string, unknown> | undefined;
    if (content !== undefined) return said(answer(content));
    return inputRequired({
      inputRequests: { [key]: inputRequired.elicit({ message: message(args), requestedSchema }) },
    });
  };
}

function addContentTools(server: McpServer): void {
  const add = (name: string, content: unknown[], more: Record<string, unknown> = {}) =>
    server.registerTool(name, { description: `Answers ${name}.` }, () => ({ content, ...more }) as never);
  add("test_simple_text", [text("This is a simple text response for testing.")]);
  add("test_image_content", [image]);
  add("test_audio_content", [{ type: "audio", data: WAV, mimeType: "audio/wav" }]);
  const resource = (uri: string, mimeType: string, words: string) => ({
    type: "resource",
    resource: { uri, mimeType, text: words },
  });
  add("test_embedded_resource", [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ]);
  add("test_multiple_content_types", [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ]);
  add("test_error_handling", [text("This tool intentionally returns an error for testing")], {
    isError: true,
  });
  server.registerTool("json_schema_2020_12_tool", {
    description: "Has a schema of JSON Schema 2020-12.",
    inputSchema: fromJsonSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    }),
  }, () => said("checked"));
}

/** A tool whose argument goes into a header as well. */
function addHeaderTool(server: McpServer): void {
  server.registerTool("test_custom_headers", {
    description: "Has an argument that is also a header.",
    inputSchema: fromJsonSchema(
      {
        type: "object",
        properties: { region: { type: "string", "x-mcp-header": "Region" } },
      } as Parameters<typeof fromJsonSchema>[0],
    ),
  }, (args) => said(JSON.stringify(args)));
}

function addProgress(server: McpServer): void {
  server.registerTool("test_tool_with_progress", { description: "Reports progress." }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken === undefined) continue;
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: 100 },
      });
    }
    return said("done");
  });
  server.registerTool("test_tool_with_logging", { description: "Writes log lines." }, async ({ mcpReq }) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await mcpReq.log("info", line);
    }
    return said("done");
  });
}

function addQuestions(server: McpServer): void {
  const described = (what: string) => (content: Record<string, unknown>) =>
    `${what}${JSON.stringify(content)}`;
  server.registerTool(
    "test_elicitation",
    { description: "Asks for a user.", inputSchema: z.object({ message: z.string() }) },
    asking({
      key: "user",
      message: ({ message }) => String(message),
      requestedSchema: form({
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      }, ["username", "email"]),
    }, described("User response: action=accept, content=")),
  );
  const ask = (name: string, requestedSchema: FormSchema) => {
    const question = { key: "fields", message: () => "Please fill in the fields", requestedSchema };
    const run = asking(question, described("Elicitation completed: action=accept, content="));
    server.registerTool(name, { description: "Asks for fields." }, (context) => run({}, context));
  };
  ask(
    "test_elicitation_sep1034_defaults",
    form({
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  );
  const titled = (...titles: string[]) =>
    titles.map((title, index) => ({ const: `value${index + 1}`, title }));
  ask(
    "test_elicitation_sep1330_enums",
    form({
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: {
        type: "array",
        items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") },
      },
    }),
  );
  const name = form({ name: { type: "string" } }, ["name"]);
  const greet = asking(
    { key: "user_name", message: () => "What is your name?", requestedSchema: name },
    (content) => `Hello, ${content["name"]}!`,
  );
  const plain = (tool: string, run: typeof greet) =>
    server.registerTool(tool, { description: "Asks its user." }, (context) => run({}, context));
  plain("test_input_required_result_elicitation", greet);
  const confirm = form({ ok: { type: "boolean" } }, ["ok"]);
  const confirmed = asking(
    { key: "confirm", message: () => "Please confirm", requestedSchema: confirm },
    () => "state-ok",
  );
  plain("test_input_required_result_request_state", confirmed);
  plain("test_input_required_result_tampered_state", confirmed);
  server.registerTool(
    "test_input_required_result_multi_round",
    { description: "Asks twice." },
    ({ mcpReq }) => {
      const { inputResponses } = mcpReq;
      const color = acceptedContent(inputResponses, "step2");
      if (color !== undefined) return said(`done ${JSON.stringify(color)}`);
      const isSecond = acceptedContent(inputResponses, "step1") !== undefined;
      const [key, message, field] = isSecond
        ? ["step2", "Step 2: What is your favorite color?", "color"]
        : ["step1", "Step 1: What is your name?", "name"];
      const requestedSchema = form({ [field]: { type: "string" } }, [field]);
      return inputRequired({
        inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) },
        requestState: key,
      });
    },
  );
}

function addResources(server: McpServer): void {
  const add = (name: string, uri: string, mimeType: string, body: Record<string, string>) =>
    server.registerResource(name, uri, { description: name, mimeType }, ({ href }) => ({
      contents: [{ uri: href, mimeType, ...body } as never],
    }));
  add("static-text", "test://static-text", "text/plain", {
    text: "This is the content of the static text resource.",
  });
  add("static-binary", "test://static-binary", "image/png", { blob: PNG });
  add("watched", "test://watched-resource", "text/plain", { text: "Watched." });
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, { description: "Data by id", mimeType: "application/json" }, (
    { href },
    { id },
  ) => ({
    contents: [{
      uri: href,
      mimeType: "application/json",
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }],
  }));
}

function addPrompts(server: McpServer): void {
  const user = (content: unknown) => ({ role: "user" as const, content }) as never;
  server.registerPrompt("test_simple_prompt", { description: "Says something." }, () => ({
    messages: [user(text("This is a simple prompt for testing."))],
  }));
  const words = ["paris", "park", "party"];
  const arg1 = completable(z.string(), (value) => words.filter((word) => word.startsWith(value)));
  server.registerPrompt("test_prompt_with_arguments", {
    description: "Says its arguments.",
    argsSchema: z.object({ arg1, arg2: z.string() }),
  }, ({ arg1, arg2 }) => ({
    messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  }));
  server.registerPrompt("test_prompt_with_embedded_resource", {
    description: "Embeds a resource.",
    argsSchema: z.object({ resourceUri: z.string() }),
  }, ({ resourceUri: uri }) => ({
    messages: [
      user({
        type: "resource",
        resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      }),
      user(text("Please process the embedded resource above.")),
    ],
  }));
  server.registerPrompt("test_prompt_with_image", { description: "Shows a picture." }, () => ({
    messages: [user(image), user(text("Please analyze the image above."))],
  }));
}

/** Changes a list, for a client that listens: by turns, something is there and is not. */
function addTriggers(server: McpServer): void {
  const tool = server.registerTool("test_added_tool", { description: "Comes and goes." }, () => said("here"));
  server.registerTool("test_trigger_tool_change", { description: "Changes the list of tools." }, () => {
    tool.update({ enabled: !tool.enabled });
    return said("changed");
  });
  const prompt = server.registerPrompt("test_added_prompt", { description: "Comes and goes." }, () => ({
    messages: [],
  }));
  server.registerTool("test_trigger_prompt_change", { description: "Changes the list of prompts." }, () => {
    prompt.update({ enabled: !prompt.enabled });
    return said("changed");
  });
}

serveStdio(() => {
  const server = new McpServer({ name: "reference", version: "1.0.0" }, {
    capabilities: {
      logging: {},
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
    },
  });
  addContentTools(server);
  addHeaderTool(server);
  addProgress(server);
  addQuestions(server);
  addResources(server);
  addPrompts(server);
  addTriggers(server);
  return server;
});
