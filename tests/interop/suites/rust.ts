/**
 * Runs the Rust SDK's own tests with our Server in place of theirs: those of its crates that go over the wire as a client.
 * Cargo gives the sources of the crates, which hold the tests; they are copied to `.suites/rust/`, and the places that
 * start a Server start ours. Building takes minutes, so this runs at full size, or when it was built before.
 *
 * @module
 */

import { fromFileUrl, join } from "@std/path";
import { isFullSize } from "../../fixtures/test_size.ts";

const root = fromFileUrl(new URL("../../../", import.meta.url));
const here = fromFileUrl(new URL("./", import.meta.url));
const folder = join(root, ".suites", "rust");
const VERSION = "0.4.1";
/** As the crates have it. */
const LEAST_RUST = "1.86";
const TOKEN = "test_secret";

/** A piece of Rust that is replaced, from the line that begins with `from` to the end of its block. */
interface Swap {
  readonly file: string;
  readonly from: string;
  readonly by: string;
}

/** The tests of one crate. */
interface CrateSuite {
  readonly crate: string;
  readonly features?: string;
  /** The test binaries. */
  readonly tests: readonly string[];
  readonly swaps: readonly Swap[];
  /** The fewest tests that must pass, so that a swap that no longer takes place is noticed. */
  readonly minimumPassed: number;
  /** Tests that are left out, and why. */
  readonly leftOut: Readonly<Record<string, string>>;
}

const MODULE = '#[path = "OUR_SERVER"]\nmod our_server;\n';
const anyVersion = ["--allow-unversioned"];

/** A struct that keeps a Server, with what the tests ask it. */
function serverStruct(name: string, options: readonly string[], members: string): string {
  const words = options.map((option) => JSON.stringify(option)).join(", ");
  return `pub struct ${name} { pub addr: SocketAddr, pub server_url: String, _server: our_server::OurServer }
impl ${name} {
    fn open() -> Self {
        let server = our_server::OurServer::start(&[${words}]);
        Self { addr: server.addr, server_url: server.url.clone(), _server: server }
    }
${members}
}
`;
}

const fallible = `    pub async fn start() -> Result<Self, Box<dyn std::error::Error>> { Ok(Self::open()) }
    pub fn url(&self) -> &str { &self.server_url }
    pub fn shutdown(self) {}`;
const infallible = `    pub async fn start() -> Self { Self::open() }
    pub fn url(&self) -> String { self.server_url.clone() }
    pub fn http(&self) -> String { self.server_url.clone() }
    pub fn shutdown(self) {}`;
const madeUpName =
  "expects the sender's made-up name in the notification; our Server sends the session's name";
const withToken = ["--token", TOKEN];

/** Replaces a struct and its methods. */
function swapStruct(file: string, name: string, by: string): Swap[] {
  // The methods go first: what replaces the struct has methods as well.
  return [
    { file, from: `impl ${name} {`, by: "" },
    { file, from: `pub struct ${name} {`, by },
  ];
}

const suites: readonly CrateSuite[] = [
  {
    crate: "a2c-smcp",
    features: "full,e2e",
    tests: [
      "e2e_basic_test",
      "e2e_desktop_test",
      "e2e_integration_test",
      "e2e_minimal_test",
      "e2e_multi_computer_test",
      "e2e_smoke_test",
      "e2e_tool_call_test",
      "e2e_tool_list_update_test",
      "v022_integration_matrix",
    ],
    swaps: [
      ...swapStruct(
        "tests/e2e/test_server.rs",
        "TestServer",
        MODULE + serverStruct("TestServer", [...withToken, ...anyVersion], fallible),
      ),
      ...swapStruct(
        "tests/v022_integration_matrix/harness.rs",
        "RelayServer",
        MODULE + serverStruct("RelayServer", [...withToken, ...anyVersion], infallible),
      ),
      ...swapStruct(
        "tests/v022_integration_matrix/harness.rs",
        "HandshakeServer",
        serverStruct("HandshakeServer", [...withToken, "--accept", "0.4"], infallible),
      ),
    ],
    minimumPassed: 66,
    leftOut: {
      test_tool_call_with_echo_server: "starts the program `echo` in place of an MCP server",
      tool_list_update_full_chain_add_rename_remove:
        "calls a tool by its bare name, and fails with the SDK's own Server as well",
      tool_call_cancel_fireforget_and_broadcast:
        "expects no ack for a cancelled call; the Python Server acks it, and so does ours",
    },
  },
  {
    crate: "smcp-server-core",
    tests: [
      "debug_broadcast",
      "get_config_complete_test",
      "get_config_test",
      "get_tools_test",
      "room_broadcast_test",
      "room_management_test",
      "skill_relay_test",
      "socketio_interop",
      "tool_call_test",
      "update_config_test",
      "update_skills_test",
    ],
    swaps: swapStruct(
      "tests/test_utils.rs",
      "SmcpTestServer",
      MODULE + serverStruct("SmcpTestServer", [...withToken, ...anyVersion], infallible),
    ),
    minimumPassed: 44,
    leftOut: {
      test_update_config_broadcast: madeUpName,
      test_update_config_broadcast_only_to_same_office: madeUpName,
      test_update_config_notification_content: madeUpName,
    },
  },
  {
    crate: "smcp-computer",
    tests: ["socketio_client_test"],
    swaps: [{
      file: "tests/socketio_client_test.rs",
      from: "    async fn start_test_server() -> String {",
      by: `    ${MODULE}
    async fn start_test_server() -> String {
        let server = our_server::OurServer::start(&["--allow-unversioned"]);
        let url = server.url.clone();
        // The tests keep nothing but the address.
        std::mem::forget(server);
        url
    }
`,
    }],
    minimumPassed: 6,
    leftOut: { "tests::test_error_handling": "joins an office with an empty name, which our Server refuses" },
  },
];

interface Output {
  readonly code: number;
  readonly text: string;
  readonly complaint: string;
}

async function run(
  command: string,
  args: readonly string[],
  options: Partial<Deno.CommandOptions> = {},
): Promise<Output> {
  try {
    const { code, stdout, stderr } = await new Deno.Command(command, {
      args: [...args],
      stdin: "null",
      ...options,
    })
      .output();
    const [text, complaint] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    return { code, text: text ?? "", complaint: complaint ?? "" };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { code: 127, text: "", complaint: "" };
    throw error;
  }
}

/** Why the tests cannot run here; `undefined` when they can. */
async function obstacle(): Promise<string | undefined> {
  const { code, text } = await run("rustc", ["--version"]);
  const [, version] = /^rustc (\d+\.\d+)/.exec(text) ?? [];
  if (code !== 0 || version === undefined) return `there is no Rust; they need rustc ${LEAST_RUST} or later`;
  if (isOlder(version, LEAST_RUST)) return `rustc ${version} is too old; they need ${LEAST_RUST} or later`;
  const needsDbus = Deno.build.os === "linux" && (await run("pkg-config", ["--exists", "dbus-1"])).code !== 0;
  if (needsDbus) return "they need libdbus (on Debian: the packages libdbus-1-dev and pkg-config)";
  const isBuilt = await Deno.stat(join(folder, "target")).then(() => true, () => false);
  if (isBuilt || isFullSize) return undefined;
  return "building them takes minutes; .ci/full does it";
}

function isOlder(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** Copies the sources of a crate, as Cargo has downloaded them. */
async function copySources(crate: string): Promise<string> {
  const manifest = join(root, "tests/interop/rust/Cargo.toml");
  const { code, text } = await run("cargo", [
    ...["metadata", "--quiet", "--locked", "--format-version", "1", "--manifest-path", manifest],
  ]);
  if (code !== 0) throw new TypeError(`Cannot find the sources of ${crate}: cargo metadata failed`);
  const { packages } = JSON.parse(text) as {
    packages: { name: string; version: string; manifest_path: string }[];
  };
  const found = packages.find(({ name, version }) => name === crate && version === VERSION);
  if (found === undefined) throw new TypeError(`Cannot find the sources of ${crate} ${VERSION}`);
  const target = join(folder, crate);
  await Deno.remove(target, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  // Their MCP servers are CommonJS; the package around them is not.
  await Deno.writeTextFile(join(folder, "package.json"), "{}\n");
  await copyFolder(join(found.manifest_path, ".."), target);
  return target;
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

async function swap(source: string, { file, from, by }: Swap): Promise<void> {
  const path = join(source, file);
  const text = await Deno.readTextFile(path);
  const start = text.indexOf(from);
  if (start < 0) throw new TypeError(`Cannot swap the Server in ${file}: no "${from}"`);
  const our = by.replaceAll("OUR_SERVER", join(here, "rust/our_server.rs"));
  await Deno.writeTextFile(path, text.slice(0, start) + our + text.slice(endOfBlock(text, start)));
}

/** Where the block ends that begins behind `start`. */
function endOfBlock(text: string, start: number): number {
  let depth = 0;
  for (let at = text.indexOf("{", start); at < text.length; at++) {
    if (text[at] === "{") depth++;
    if (text[at] === "}" && --depth === 0) return at + 1;
  }
  throw new TypeError("Cannot swap the Server: a block has no end");
}

async function runSuite(suite: CrateSuite): Promise<boolean> {
  const source = await copySources(suite.crate);
  for (const each of suite.swaps) await swap(source, each);
  const server = [Deno.execPath(), "run", "-A", "--no-check", `${root}server.ts`].join(" ");
  const skips = Object.keys(suite.leftOut).flatMap((test) => ["--skip", test]);
  const { code, text, complaint } = await run("cargo", [
    ...["test", "--quiet", "--locked", "--no-fail-fast"],
    ...(suite.features === undefined ? [] : ["--features", suite.features]),
    ...suite.tests.flatMap((test) => ["--test", test]),
    ...["--", "--include-ignored", "--test-threads", "2", "--format", "pretty", "--exact", ...skips],
  ], {
    cwd: source,
    env: { CARGO_TARGET_DIR: join(folder, "target"), A2C_SERVER: server, CARGO_PROFILE_DEV_DEBUG: "0" },
  });
  const passed = [...text.matchAll(/^test (\S+) \.\.\. ok$/gm)].length;
  const failed = [...text.matchAll(/^test (\S+) \.\.\. FAILED$/gm)].map(([, test]) => test);
  // Warnings of their sources would hide what matters.
  if (code !== 0) console.error(`${text}\n${complaint}`.split("\n").slice(-80).join("\n"));
  const left = Object.keys(suite.leftOut).length;
  console.log(
    `Rust SDK ${VERSION}, ${suite.crate}: ${passed} of its tests passed on our Server, ${left} left out`,
  );
  if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}`);
  if (passed < suite.minimumPassed) console.error(`Expected at least ${suite.minimumPassed} to pass`);
  return code === 0 && passed >= suite.minimumPassed;
}

const why = await obstacle();
if (why !== undefined) {
  console.log(`interop: skipped, the Rust SDK's own tests: ${why}`);
} else {
  const outcomes: boolean[] = [];
  for (const suite of suites) outcomes.push(await runSuite(suite));
  if (outcomes.includes(false)) Deno.exit(1);
}
