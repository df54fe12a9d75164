/** A launcher of an MCP server on Windows that starts more than the server, and what is left of all that. */
import { TempFolder } from "../fixtures/temp_folder.ts";
import { root, toWindowsPath, windowsFolder } from "./wine.ts";

/** A process that nobody ends, with a child that is one as well, until the depth is 0. */
const STUBBORN = `
const [depth, mark] = Deno.args;
for (const signal of ["SIGINT", "SIGBREAK"]) Deno.addSignalListener(signal, () => {});
if (depth !== "0") {
  const args = ["run", "-A", "--no-config", import.meta.filename, String(Number(depth) - 1), mark];
  new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
}
setInterval(() => {}, 60_000);
`;

/** A folder with a launcher as npm writes them, and a config that names it without its ending. Lines end as on Windows. */
export class Launcher implements Disposable {
  /** How many processes it has: `cmd.exe`, the MCP server, and a stubborn process with a child. */
  static readonly PROCESSES = 4;
  readonly #folder = new TempFolder();
  /** In the command lines of these processes alone. */
  readonly mark = `mark-${crypto.randomUUID()}`;

  /** @param servers Further MCP servers of the config. */
  constructor(servers: Readonly<Record<string, unknown>> = {}) {
    const deno = `"${toWindowsPath(`${windowsFolder}/package/deno.exe`)}"`;
    const server = toWindowsPath(`${root}/tests/fixtures/kiosk_stdio.ts`);
    const stubborn = this.#write("stubborn.ts", STUBBORN);
    this.#write(
      "kiosk.cmd",
      [
        "@echo off",
        `start /b "" ${deno} run -A --no-config "${stubborn}" 1 ${this.mark}`,
        `${deno} run -A --no-check --quiet "${server}" %*`,
        "",
      ].join("\r\n"),
    );
    const PATH = `${toWindowsPath(this.#folder.path)};C:\\windows\\system32`;
    const kiosk = { command: "kiosk", args: ["legacy", this.mark, "a&b"], env: { PATH } };
    const config = JSON.stringify({ mcpServers: { kiosk, ...servers } }, null, 2);
    this.#write("config.json", config.replaceAll("\n", "\r\n"));
  }

  get config(): string {
    return toWindowsPath(`${this.#folder.path}/config.json`);
  }

  /** Folders of the programs, which share them. */
  get env(): Record<string, string> {
    return {
      XDG_RUNTIME_DIR: toWindowsPath(this.#folder.path),
      XDG_STATE_HOME: toWindowsPath(this.#folder.path),
    };
  }

  /** The ids of its processes on this machine. */
  get processes(): string[] {
    return [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => {
      try {
        return /^\d+$/.test(name) && Deno.readTextFileSync(`/proc/${name}/cmdline`).includes(this.mark);
      } catch {
        return false;
      }
    });
  }

  #write(name: string, text: string): string {
    Deno.writeTextFileSync(`${this.#folder.path}/${name}`, text);
    return toWindowsPath(`${this.#folder.path}/${name}`);
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
