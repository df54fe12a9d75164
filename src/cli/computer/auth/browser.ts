/** Opens a page in the browser of this machine. */

/** How long the program that opens a browser may take to fail, in milliseconds; some end only with the browser. */
const FAILURE_WINDOW_MS = 2_000;

/** Opens an http or https page; resolves to whether a browser was found. Never rejects. */
export async function openBrowser(url: string): Promise<boolean> {
  const { protocol } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return false;
  const [program, ...args] = openerFor(Deno.build.os);
  try {
    const child = new Deno.Command(program, {
      args: [...args, url],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    // The browser outlives the command that opened it.
    child.unref();
    return await endsWell(child);
  } catch {
    return false;
  }
}

async function endsWell(child: Deno.ChildProcess): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const still = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(true), FAILURE_WINDOW_MS));
  try {
    return await Promise.race([child.status.then(({ success }) => success), still]);
  } finally {
    clearTimeout(timer);
  }
}

/** The program gets the address as one argument, and no shell reads it. */
function openerFor(os: typeof Deno.build.os): readonly [program: string, ...args: readonly string[]] {
  if (os === "darwin") return ["open"];
  return os === "windows" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
}
