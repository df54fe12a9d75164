/** Opens a page in the browser of this machine. */
import { join, toFileUrl } from "@std/path";
import { replaceFile } from "../files/files.ts";
import { escapeHtml } from "../text/safe_text.ts";
import { controlFolder } from "./socket_folder.ts";

/** How long the program that opens a browser may take to fail, in milliseconds; some end only with the browser. */
const FAILURE_WINDOW_MS = 2_000;

/**
 * Opens an http or https page; resolves to whether a browser was found. What follows `#` is no argument of a program, which
 * all users of the machine can read. Never rejects.
 */
export async function openBrowser(url: string): Promise<boolean> {
  const { protocol, hash } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return false;
  const [program, ...args] = openerFor(Deno.build.os);
  try {
    const page = hash === "" ? url : await writeLeadingPage(url);
    const child = new Deno.Command(program, {
      args: [...args, page],
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

/**
 * Writes a page that leads to the address, which only this user can read, and returns its address.
 *
 * @throws {TypeError} when there is no place for it.
 */
async function writeLeadingPage(url: string): Promise<string> {
  // On Windows, only this user and administrators see the arguments.
  if (Deno.build.os === "windows") return url;
  const folder = await controlFolder();
  if (folder === undefined) throw new TypeError("Cannot open a page: no folder of this user alone");
  const path = join(folder, `page-${new URL(url).port}.html`);
  const address = escapeHtml(url);
  const html =
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>A2C-SMCP</title>` +
    `<meta http-equiv="refresh" content="0; url=${address}"><a href="${address}">Open the page</a>\n`;
  await replaceFile(path, html, { mode: 0o600 });
  return toFileUrl(path).href;
}
