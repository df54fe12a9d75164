/** A registry of npm on this machine (verdaccio), from which the packages of this repository are installed as anybody would. */
import { join } from "@std/path";
import { root, run, succeed } from "../../tools/deno.ts";
import { RunningDoor } from "../fixtures/door.ts";

/** One of its dependencies asks for a tag that copies of the public registry may lack. */
const VERDACCIO = { dependencies: { verdaccio: "6.10.4" }, overrides: { "node-fetch": "2.6.7" } };

/** Anybody may publish our packages; the others come from npm's registry. */
const config = (upstream: string) => `
storage: ./storage
uplinks:
  upstream: { url: ${upstream} }
packages:
  "@a2c-smcp/*": { access: $all, publish: $all }
  a2c-smcp: { access: $all, publish: $all }
  "**": { access: $all, proxy: upstream }
max_body_size: 100mb
log: { type: stdout, format: pretty, level: warn }
`;

/** How to run a command to its end. */
type Run = (command: string, args: readonly string[], cwd: string) => Promise<string>;

/** The registry. */
export class Registry implements AsyncDisposable {
  readonly #program: RunningDoor;
  readonly url: string;

  private constructor(program: RunningDoor, url: string) {
    this.#program = program;
    this.url = url;
  }

  /** Installs verdaccio in a new folder, and starts it by a Node. */
  static async start(
    folder: string,
    { node, run }: { readonly node: string; readonly run: Run },
  ): Promise<Registry> {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify(VERDACCIO));
    const upstream = await run("npm", ["config", "get", "registry"], folder);
    await Deno.writeTextFile(join(folder, "config.yaml"), config(upstream.trim()));
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], folder);
    const place = `127.0.0.1:${freePort()}`;
    const program = join("node_modules", "verdaccio", "bin", "verdaccio");
    const door = new RunningDoor([node, program, "--config", "config.yaml", "--listen", place], {
      cwd: folder,
    });
    await door.said("http address");
    return new Registry(door, `http://${place}/`);
  }

  /** Lets npm look for our scope here, in a folder and below it. */
  async useIn(folder: string): Promise<void> {
    await Deno.writeTextFile(join(folder, ".npmrc"), `@a2c-smcp:registry=${this.url}`);
  }

  /** Publishes the packages of a folder as a release does. */
  async publish(folder: string): Promise<string> {
    const words = ["run", "-A", join(root, "tools", "deliver.ts"), "npm", folder];
    const variables = { npm_config_registry: this.url, NODE_AUTH_TOKEN: "any" };
    return (await succeed("deliver.ts", run(Deno.execPath(), words, root, variables))).stdout;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
