/**
 * Puts into `.windows/` at the repository root what the tests of this folder need: a copy of Wine from Debian's packages,
 * unpacked and not installed, and Deno for Windows from npm. No root is needed where the lists of `apt-get` are there.
 * Idempotent. Where it is not possible it says so and exits 0: the tests then skip themselves and say why.
 *
 * Deno needs two things of Windows that Wine 8 lacks, and both are changed in the copy alone: `bcryptprimitives.dll` with
 * its one function, and the placeholders of `VirtualAlloc2`, without which V8 does where that function does not exist.
 *
 * @module
 */
import { forwardingLibrary } from "./forwarding_library.ts";
import { readStamp, stamp, windowsDeno, windowsFolder as folder, wineEnvironment } from "./wine.ts";

const LIBRARIES = `${folder}/wine/usr/lib/x86_64-linux-gnu/wine/x86_64-windows`;
const SYSTEM = `${folder}/prefix/drive_c/windows/system32`;
const PACKAGES = ["libwine", "wine64", "libz-mingw-w64"];
/** How often Deno may fail to start: Wine's services need a while after the start of a prefix. */
const ATTEMPTS = 3;

/** Parts of Wine that no test needs, and that are most of it: graphics, sound, browsers, runtimes of old compilers. */
const UNUSED = [
  ..."d3d* d2d* d3drm* ddraw* dx* wined3d* opengl* glu* vulkan* winevulkan* gdiplus* dwrite* quartz* mf* qcap* qasf*"
    .split(" "),
  ..."qedit* wmp* wmv* dsound* dmusic* dm* x3d* xaudio* xactengine* xapofx* xinput* dinput* winegstreamer* winex11*"
    .split(" "),
  ..."winepulse* winealsa* mshtml* ieframe* jscript* vbscript* msxml* msvcp* msvcr[0-9]* msvcrtd* atl* hhctrl* *.acm *.ax"
    .split(" "),
  ..."*.ocx *.ds *.msstyles riched* windows.* sapi* twain* gphoto* wordpad* winhlp* winemine*".split(" "),
];

class NotPossibleError extends Error {
  override readonly name = "NotPossibleError";
}

async function run(
  program: string,
  args: readonly string[],
  options: Deno.CommandOptions = {},
): Promise<string> {
  const timeout = ["300", program, ...args];
  const command = new Deno.Command("timeout", { args: timeout, stdin: "null", stderr: "piped", ...options });
  const { success, stdout, stderr } = await command.output();
  if (success) return new TextDecoder().decode(stdout);
  const reason = new TextDecoder().decode(stderr).trim().split("\n").at(-1);
  throw new NotPossibleError(`"${program} ${args[0]}" failed: ${reason}`);
}

async function downloadPackages(into: string): Promise<string[]> {
  const download = () =>
    run("apt-get", ["-o", "APT::Sandbox::User=root", "download", ...PACKAGES], { cwd: into });
  await download().catch(() => run("apt-get", ["update"]).then(download));
  return Array.from(Deno.readDirSync(into), ({ name }) => `${into}/${name}`);
}

async function unpackWine(): Promise<void> {
  const debs = await Deno.makeTempDir({ dir: folder });
  const unused = UNUSED.map((name) => `--exclude=x86_64-windows/${name}`).join(" ");
  const tar = `tar --extract --wildcards --exclude=./usr/share/doc ${unused} --directory="$1"`;
  for (const deb of await downloadPackages(debs)) {
    await run("sh", ["-c", `set -f; dpkg-deb --fsys-tarfile "$2" | ${tar}`, "sh", `${folder}/wine`, deb]);
  }
  await Deno.remove(debs, { recursive: true });
  // The script of this name looks for an installed Wine.
  await Deno.copyFile(`${folder}/wine/usr/lib/wine/wineserver64`, `${folder}/wine/usr/lib/wine/wineserver`);
}

/** V8 looks this function up by its name: with another of the same length and order, it is not there. */
async function hideVirtualAlloc2(): Promise<void> {
  const path = `${LIBRARIES}/kernelbase.dll`;
  const bytes = await Deno.readFile(path);
  const name = new TextEncoder().encode("\0VirtualAlloc2\0");
  for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) {
    if (name.every((byte, index) => bytes[at + index] === byte)) bytes[at + name.length - 2] = 0x31;
  }
  await Deno.writeFile(path, bytes);
}

async function unpackDeno(): Promise<void> {
  const name = `@deno/win32-x64@${Deno.version.deno}`;
  const archive = (await run("npm", ["pack", "--silent", name], { cwd: folder })).trim();
  await run("tar", ["--extract", "--file", archive, "package/deno.exe"], { cwd: folder });
  await Deno.remove(`${folder}/${archive}`);
  const function036 = { name: "ProcessPrng", target: "advapi32.SystemFunction036" };
  await Deno.writeFile(
    `${folder}/package/bcryptprimitives.dll`,
    forwardingLibrary("bcryptprimitives.dll", function036),
  );
}

async function makePrefix(): Promise<void> {
  await Deno.mkdir(SYSTEM, { recursive: true });
  await Deno.copyFile(`${folder}/wine/usr/x86_64-w64-mingw32/lib/zlib1.dll`, `${SYSTEM}/zlib1.dll`);
  await runWine("wineboot", "-i");
  await runWine("reg", "add", "HKEY_CURRENT_USER\\Software\\Wine", "/v", "Version", "/d", "win10", "/f");
}

/** Its services would hold a pipe open. */
async function runWine(...args: string[]): Promise<void> {
  const env = wineEnvironment();
  const words = ["300", env.WINELOADER, ...args];
  const how = { args: words, env, stdin: "null", stdout: "null", stderr: "null" } as const;
  const { success } = await new Deno.Command("timeout", how).output();
  if (!success) throw new NotPossibleError(`"wine ${args[0]}" failed`);
}

/** Deno for Windows finds there what the Deno of this machine has downloaded. */
async function seedCache(): Promise<void> {
  const info = JSON.parse(await run(Deno.execPath(), ["info", "--json"]));
  await Deno.mkdir(`${folder}/cache`, { recursive: true });
  await run("cp", ["--recursive", "--link", info.npmCache, `${folder}/cache/`])
    .catch(() => run("cp", ["--recursive", info.npmCache, `${folder}/cache/`])).catch(() => {});
}

async function start(): Promise<string> {
  const script = "console.log(`${Deno.build.os} ${Deno.osRelease()}, Deno ${Deno.version.deno}`)";
  for (let attempt = 1;; attempt++) {
    try {
      return (await run(windowsDeno, ["eval", script])).trim();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function install(): Promise<string> {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") {
    throw new NotPossibleError("Wine is tried on Linux with x86_64 alone");
  }
  if (readStamp() === stamp) return "already installed";
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(`${folder}/wine`, { recursive: true });
  await Promise.all([unpackWine().then(hideVirtualAlloc2), unpackDeno(), seedCache()]);
  await makePrefix();
  const environment = Object.entries(wineEnvironment()).map(([name, value]) => `export ${name}='${value}'`);
  const words = `exec '${folder}/wine/usr/lib/wine/wine64' '${folder}/package/deno.exe' "$@"`;
  await Deno.writeTextFile(windowsDeno, ["#!/bin/sh", ...environment, words, ""].join("\n"), { mode: 0o755 });
  const version = await start();
  await Deno.writeTextFile(`${folder}/ready`, stamp);
  return `installed ${version}`;
}

if (import.meta.main) {
  try {
    console.log(`windows: ${await install()}`);
  } catch (error) {
    if (!(error instanceof NotPossibleError || error instanceof Deno.errors.NotFound)) throw error;
    console.log(`windows: skipped, ${error.message}`);
  }
}
