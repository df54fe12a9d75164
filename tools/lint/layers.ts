/** The layers, as CONTRIBUTING.md tells it: who may import whom. The rules read it from here alone. */

/**
 * The layers that each layer of `src/` may import from besides itself. A layer is a folder, or one module right
 * under `src/`. Lower layers come first: a layer imports only layers that stand before it, so there can be no cycle between layers.
 */
export const layerImports: Readonly<Record<string, readonly string[]>> = {
  async: [],
  json: ["async"],
  text: [],
  own_imports: [],
  log: ["text"],
  files: ["async", "text", "log"],
  bounded_log: ["async", "log"],
  version: [],
  // The JSON that the pages read and the programs write.
  api_values: [],
  tracing: ["version", "json"],
  // Requests to addresses that strangers name, and proxies on the way to any.
  reach: ["async"],
  protocol: ["json", "text"],
  // Its users are the admission of the Server, MCP over HTTP, and machines that join by code.
  jwt: ["protocol", "async", "json", "text", "log", "files"],
  http: ["protocol", "jwt", "async", "json", "text", "log", "bounded_log", "files"],
  uri: ["protocol", "text"],
  terminal: ["async", "text"],
  organizer: ["protocol", "uri", "json", "text"],
  dpe: ["protocol", "json", "text"],
  link: ["async", "reach", "protocol", "log", "tracing", "json", "text"],
  mcp: ["async", "protocol", "reach", "log", "tracing", "version", "json", "text", "files"],
  config: ["protocol", "uri", "mcp", "json", "text", "files", "own_imports"],
  provider: ["protocol", "uri", "organizer", "dpe", "tracing", "json", "text"],
  // The Server relays without looking inside, so it has no use for what gives messages a meaning.
  server: [
    "async",
    "protocol",
    "jwt",
    "http",
    "log",
    "bounded_log",
    "tracing",
    "json",
    "text",
    "files",
  ],
  // Tools that an MCP server of ours answers itself: those of the documents server, the gateway and the toolkits.
  local_tools: ["protocol", "dpe", "json", "text"],
  agent: [
    "async",
    "protocol",
    "uri",
    "dpe",
    "local_tools",
    "link",
    "log",
    "tracing",
    "version",
    "json",
    "text",
  ],
  computer: [
    "async",
    "protocol",
    "uri",
    "organizer",
    "dpe",
    "link",
    "mcp",
    "config",
    "reach",
    "log",
    "tracing",
    "json",
    "text",
    "files",
  ],
  gateway: [
    "async",
    "protocol",
    "uri",
    "http",
    "agent",
    "local_tools",
    "log",
    "version",
    "json",
    "text",
  ],
  // The roles know nothing of it: a program composes them with it.
  hub: ["async", "files", "protocol", "http", "reach", "log", "bounded_log", "json", "text", "own_imports"],
  // The port of a page. It knows no role: a program gives it commands and events.
  console: ["api_values", "protocol", "dpe", "http", "log", "json", "text"],
  // The programs stand above the roles, so that a library never imports a command line.
  cli: [
    "api_values",
    "async",
    "protocol",
    "uri",
    "dpe",
    "link",
    "mcp",
    "config",
    "terminal",
    "server",
    "computer",
    "agent",
    "jwt",
    "http",
    "gateway",
    "hub",
    "console",
    "reach",
    "log",
    "bounded_log",
    "version",
    "json",
    "text",
    "files",
    "own_imports",
  ],
};

/**
 * The rooms of a layer and what each may import from besides itself, lower rooms first. A room is a folder of the layer; the
 * modules right in the layer stand above all of them, and no room imports those.
 */
export const roomImports: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  computer: {
    inputs: [],
    uploads: [],
    vrl: [],
    secrets: [],
    office: [],
    shared: ["secrets", "office"],
    resources: ["shared"],
    offers: ["shared", "resources"],
    skills: ["office", "shared", "resources"],
    questions: ["office", "shared"],
    tools: ["vrl", "secrets", "office", "shared", "questions"],
  },
};

/** What a module of `src/` may import from outside of `src/`, by the module's path. */
export const outsideImports: Readonly<Record<string, readonly string[]>> = {
  "src/version.ts": ["deno.json"],
  "src/cli/agent/instructions.ts": ["skills/a2c-office/SKILL.md"],
};

/** The places of `src/` that may use `Deno`: what needs it, and `tcp_sockets.ts`, which asks for a permission that was granted. */
export const denoPlaces: readonly string[] = [
  "src/cli/",
  "src/files/files.ts",
  "src/files/folder_watch.ts",
  "src/files/open_file.ts",
  "src/files/state_folder.ts",
  "src/files/user_sockets.ts",
  "src/terminal/",
  "src/config/",
  "src/reach/http_client.ts",
  "src/reach/proxies.ts",
  "src/reach/reach.ts",
  "src/mcp/",
  "src/computer/",
  "src/server/engine/tcp_sockets.ts",
];

/** A third party and the places of `src/` and `packages/` that may import it; a place is the beginning of a path. */
export interface ThirdParty {
  /** The beginning of the specifiers: the package itself or a folder of it. */
  readonly specifier: string;
  readonly places: readonly string[];
}

/** The first entry that fits a specifier counts. What fits none may not be imported in `src/`. */
export const thirdParties: readonly ThirdParty[] = [
  {
    specifier: "zod",
    places: [
      "src/protocol/schemas/",
      "src/protocol/parse.ts",
      "src/protocol/office_requests.ts",
      "src/protocol/office_answers.ts",
      "src/protocol/dpe_answers.ts",
      "src/config/",
      "src/mcp/auth/token_file.ts",
    ],
  },
  { specifier: "socket.io", places: ["src/server/socket_io.ts"] },
  { specifier: "@opentelemetry/api", places: ["src/tracing.ts"] },
  // Loaded when a hub starts its authorization server.
  { specifier: "oidc-provider", places: ["src/hub/oauth_library.ts"] },
  { specifier: "@redis/client", places: ["src/server/offices/redis/connection.ts"] },
  { specifier: "socket.io-parser", places: ["src/server/engine/packets.ts"] },
  {
    specifier: "socket.io-client",
    places: ["src/link/connect.ts", "src/link/polling.ts", "src/link/websocket.ts"],
  },
  // Loaded only when clients are admitted by JWT, and where a private key is configured for a sign-in.
  { specifier: "jose", places: ["src/jwt/", "src/mcp/auth/private_key.ts"] },
  // Both eras of MCP toward clients of the gateway. The provider kit serves authors on either version of the SDK, so nothing imports 1.x.
  {
    specifier: "@modelcontextprotocol/server",
    places: [
      "src/agent/toolkit/mcp_server.ts",
      "src/http/mcp/",
      "src/gateway/",
      "packages/documents/src/serving.ts",
    ],
  },
  { specifier: "ignore", places: ["packages/documents/src/folder/gitignore.ts"] },
  { specifier: "unpdf", places: ["packages/documents/src/formats/pdf/"] },
  { specifier: "jpeg-js", places: ["packages/documents/src/formats/pdf/pictures.ts"] },
  { specifier: "fflate", places: ["packages/documents/src/formats/zip.ts"] },
  { specifier: "saxes", places: ["packages/documents/src/formats/xml.ts"] },
  { specifier: "numfmt", places: ["packages/documents/src/formats/xlsx/cells.ts"] },
  { specifier: "papaparse", places: ["packages/documents/src/formats/csv.ts"] },
  { specifier: "exifr", places: ["packages/documents/src/formats/image.ts"] },
  { specifier: "image-size", places: ["packages/documents/src/formats/picture.ts"] },
  { specifier: "postal-mime", places: ["packages/documents/src/formats/mail.ts"] },
  { specifier: "@e965/xlsx", places: ["packages/documents/src/formats/old/workbook.ts"] },
  { specifier: "word-extractor", places: ["packages/documents/src/formats/old/word.ts"] },
  { specifier: "@kenjiuno/msgreader", places: ["packages/documents/src/formats/old/outlook.ts"] },
  { specifier: "parse5", places: ["packages/documents/src/formats/html/"] },
  { specifier: "markdown-it", places: ["packages/documents/src/formats/markdown.ts"] },
  // The search of tools.
  { specifier: "minisearch", places: ["src/gateway/search/word_index.ts"] },
  // Loaded with the first server on the network.
  { specifier: "oauth4webapi", places: ["src/mcp/auth/"] },
  // Reading keeps the places of a file's text, editing keeps all the rest of it.
  { specifier: "jsonc-parser", places: ["src/config/json_text.ts", "src/config/edit.ts"] },
  { specifier: "toml-eslint-parser", places: ["src/config/toml_text.ts", "src/config/toml_edit.ts"] },
  {
    specifier: "yaml",
    places: [
      "src/config/yaml_text.ts",
      "src/computer/skills/front_matter.ts",
      "packages/documents/src/formats/",
    ],
  },
  { specifier: "dotenv", places: ["src/computer/inputs/resolve.ts"] },
  { specifier: "commander", places: ["src/cli/", "packages/documents/src/program.ts"] },
  // Bundled into `assets.ts`: no user of the package installs them.
  { specifier: "preact", places: ["src/console/page/"] },
  { specifier: "@preact/signals", places: ["src/console/page/"] },
  { specifier: "htm", places: ["src/console/page/"] },
  // Loaded when a machine joins by code at a terminal. It depends on nothing.
  { specifier: "qr", places: ["src/cli/machine/join.ts"] },
  { specifier: "string-width", places: ["src/terminal/display_width.ts"] },
  { specifier: "@bpinternal/verel", places: ["src/computer/vrl/"] },
  { specifier: "@std/log", places: ["src/log.ts"] },
  { specifier: "@std/path", places: ["src/", "packages/"] },
  // The SDK is never among those: it starts the program of documents, and does not import it.
  { specifier: "@a2c-smcp/sdk", places: ["packages/"] },
];
