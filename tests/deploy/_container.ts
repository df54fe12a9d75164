/** A Debian with systemd as its first process, in the network of this machine. */
import { dirname, join } from "@std/path";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ROOT } from "./_tools.ts";

const IMAGE = `${ROOT}.deploy-tools/systemd.tar`;
const NSPAWN = "/usr/bin/systemd-nspawn";
/** Where a container has our sources. */
const SOURCES = "/opt/a2c";

/** What is installed. */
const PROGRAM = `#!/bin/sh
export DENO_DIR=/var/cache/deno
exec deno run -A --quiet --config ${SOURCES}/deno.json ${SOURCES}/cli.ts "$@"
`;

/** Why no container can be started here; `undefined` where one can. */
export function containerProblem(): string | undefined {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "a container with systemd needs root";
  const isThere = (path: string) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  };
  return isThere(IMAGE) && isThere(NSPAWN)
    ? undefined
    : 'there is no container with systemd; "sh tests/deploy/install_systemd.sh" makes one';
}

export class Container implements AsyncDisposable {
  readonly #folder: TempFolder;
  readonly #cache: string;
  #nspawn: Deno.ChildProcess | undefined;

  private constructor(folder: TempFolder, cache: string) {
    this.#folder = folder;
    this.#cache = cache;
  }

  /** Unpacks the system and boots it. */
  static async boot(): Promise<Container> {
    const folder = new TempFolder();
    const { denoDir } = JSON.parse(await outputOf(Deno.execPath(), "info", "--json"));
    const container = new Container(folder, String(denoDir));
    await Deno.mkdir(join(folder.path, "root"));
    await Deno.mkdir(join(folder.path, "cache"), { mode: 0o777 });
    await Deno.chmod(join(folder.path, "cache"), 0o777);
    await outputOf("tar", "-C", join(folder.path, "root"), "-xf", IMAGE);
    await container.write("usr/local/bin/a2c-smcp", PROGRAM);
    await container.start();
    return container;
  }

  async start(): Promise<void> {
    const path = this.#folder.path;
    this.#nspawn = new Deno.Command(NSPAWN, {
      args: [
        ...[
          "--boot",
          "--quiet",
          "--register=no",
          "--keep-unit",
          "--link-journal=no",
          `--machine=a2c-${Deno.pid}`,
        ],
        ...[`--directory=${join(path, "root")}`, `--bind-ro=${ROOT}:${SOURCES}`],
        `--bind-ro=${Deno.realPathSync(Deno.execPath())}:/usr/local/bin/deno`,
        `--overlay=${this.#cache}:${join(path, "cache")}:/var/cache/deno`,
      ],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await eventually(
      () => this.run("root", "systemctl is-system-running --wait"),
      ({ code }) => code === 0,
      "the boot",
    );
  }

  /** Shuts the system down. */
  async stop(): Promise<void> {
    const nspawn = this.#nspawn;
    if (nspawn === undefined) return;
    this.#nspawn = undefined;
    // SIGTERM to systemd-nspawn is the power button.
    nspawn.kill("SIGTERM");
    await within(nspawn.status, "the shutdown of the container");
  }

  /** Runs a line in a login shell of a user. */
  async run(user: string, line: string): Promise<{ readonly code: number; readonly output: string }> {
    const leader = await this.#leader();
    if (leader === "") return { code: 1, output: "" };
    const namespaces = ["--mount", "--uts", "--ipc", "--pid", "--cgroup"];
    const args = ["--target", leader, ...namespaces, "su", "-", user, "-c", line];
    const { code, stdout, stderr } = await new Deno.Command("nsenter", { args, stdin: "null" }).output();
    const decoder = new TextDecoder();
    return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
  }

  /** The same for `a2c-smcp`; what it printed. */
  async runProgram(
    user: string,
    ...words: string[]
  ): Promise<{ readonly code: number; readonly output: string }> {
    return await this.run(user, `a2c-smcp ${words.join(" ")}`);
  }

  /** Writes a file that everybody may read and run, in a folder that is made if it does not exist. */
  async write(path: string, text: string): Promise<void> {
    const inside = join(this.#folder.path, "root", path);
    await Deno.mkdir(dirname(inside), { recursive: true });
    await Deno.writeTextFile(inside, text, { mode: 0o755 });
    // Whatever the umask is.
    await Deno.chmod(inside, 0o755);
  }

  /** The process that the container has as its first. */
  async #leader(): Promise<string> {
    const pid = this.#nspawn?.pid;
    const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`).catch(() => "");
    return children.trim().split(" ")[0] ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#folder[Symbol.dispose]();
  }
}

async function outputOf(command: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args, stdin: "null" }).output();
  if (!success) throw new Error(`Cannot run "${command}": ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
