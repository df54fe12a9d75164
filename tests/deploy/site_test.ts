// The site that `deno task site` makes: complete, whole links, small pages, nothing from elsewhere.

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { parse } from "parse5";
import project from "../../project.json" with { type: "json" };
import { Chromium, hasChromium } from "../fixtures/chromium.ts";
import { eventually } from "../fixtures/within.ts";
import { newestReleases } from "../../site/pages.ts";
import { ROOT } from "./_tools.ts";

/** The most bytes of a page with what it loads at once; the search is loaded when somebody searches. */
const MAX_PAGE_BYTES = 100_000;

/** What `deno doc` makes says everything several times: these pages are measured as hosts send them, compressed. */
const REFERENCE = /^api\/(?:sdk|documents)\//;

/** The site's root at its host, where the page of missing addresses begins its links. */
const HOME = new RegExp(`^${new URL(project.homepage).pathname}`);

/** What people type or paste, and what has to be found first. */
const ASKED = {
  'Tool "eco" does not exist on this Computer; did you mean "echo"? (4001)': "protocol/errors/4001/",
  'Cannot join office "lab" as "bob": Room already has an agent (4101): "ada"': "protocol/errors/4101/",
  "its TLS certificate is not trusted (self-signed certificate)":
    "troubleshooting/#its-tls-certificate-is-not-trusted",
  'connection refused by "hub", no program listens there':
    "troubleshooting/#connection-refused-no-program-listens-there",
  "documents bundle mcpb": "clients/#",
  "MCP a2c: Server disconnected. For troubleshooting guidance, please visit our debugging documentation":
    "troubleshooting/#mcp-server-disconnected",
  "MCP error -32000: Connection closed": "troubleshooting/#mcp-error-32000-connection-closed",
  "spawn npx ENOENT": "troubleshooting/#spawn-npx-enoent",
  "The office cannot be reached now: the gateway is still connecting to the Server.":
    "troubleshooting/#the-office-cannot-be-reached-now",
  "No Computer is in the office now.": "troubleshooting/#no-computer-is-in-the-office-now",
  "502 Bad Gateway nginx/1.22.1": "troubleshooting/#502-bad-gateway",
  "Error: listen EADDRINUSE: address already in use 127.0.0.1:3000": "troubleshooting/#listen-eaddrinuse",
  "EACCES: permission denied, mkdir '/usr/local/lib/node_modules/a2c-smcp'":
    "troubleshooting/#eacces-permission-denied-mkdir",
  "unable to verify the first certificate": "troubleshooting/#unable-to-verify-the-first-certificate",
  "Computer with name 'laptp' not found": "troubleshooting/#computer-with-name",
  "Computer with name 'laptop' did not answer \"client:tool_call\" in 8000 ms":
    "troubleshooting/#did-not-answer-in-ms",
  "zsh: command not found: npx": "troubleshooting/#command-not-found",
  "npx.ps1 cannot be loaded because running scripts is disabled on this system":
    "troubleshooting/#cannot-be-loaded-because-running-scripts",
  "npm : File C:\\Program Files\\nodejs\\npm.ps1 cannot be loaded because running scripts is disabled on this system. For more information, see about_Execution_Policies":
    "troubleshooting/#cannot-be-loaded-because-running-scripts",
  "npx is not recognized": "troubleshooting/#is-not-recognized-as",
  "wrong token": "troubleshooting/#unauthorized-wrong-token",
  "wrong tok": "troubleshooting/#unauthorized-wrong-token",
  "code expired": "troubleshooting/#a-code-is-wrong-or-has-expired",
  "join by code": "machines/#join-by-code",
  "my pc from elsewhere": "clients/#my-pc-from-elsewhere",
  "SmartScreen": "troubleshooting/#windows-protected-your-pc",
  "Windows protected your PC": "troubleshooting/#windows-protected-your-pc",
  "nothing happens": "troubleshooting/#nothing-happens",
  "Claude does not show it": "troubleshooting/#claude-shows-no-documents",
  "file is in use": "troubleshooting/#cannot-",
  "what has Claude read": "faq/#what-has-claude-read",
  "testing my agent": "agent/#test-your-product",
  "limits": "configuration/#limits",
  "is it safe": "faq/#privacy",
  "privacy": "faq/#privacy",
  "home pc": "faq/#can-i-use-my-home-pc",
  "backup": "upgrade/#",
  "SmcpServer": "api/sdk/server/~/SmcpServer.html",
  "openFolderDocuments": "api/documents/~/openFolderDocuments.html",
  "class SmcpServer": "api/sdk/server/~/SmcpServer.html",
  "SmcpServer.listen": "api/sdk/server/~/SmcpServer.listen.html",
  "Agent.connect": "api/sdk/agent/~/Agent.connect.html",
  "Agent.connect(": "api/sdk/agent/~/Agent.connect.html",
  "RemoteComputer.callTool": "api/sdk/agent/~/RemoteComputer.prototype.callTool.html",
  "RemoteComputer.prototype.callTool": "api/sdk/agent/~/RemoteComputer.prototype.callTool.html",
  "callTool": "api/sdk/agent/~/RemoteComputer.prototype.callTool.html",
  "office.callTool(": "api/sdk/agent/~/RemoteComputer.prototype.callTool.html",
  "callTool(": "api/sdk/agent/~/RemoteComputer.prototype.callTool.html",
  "sleep": "troubleshooting/#asleep-since",
  "the machine sleeps": "faq/#what-happens-while-a-machine-is-offline-or-asleep",
  "all the limits": "configuration/#limits",
  "token leaked": "operations/#a-token-has-leaked",
  "stolen laptop": "operations/#a-laptop-was-lost-or-stolen",
  "flood of connections": "operations/#a-flood-of-connections-or-requests",
  "disk full": "operations/#the-disk-is-full",
  "runaway client": "operations/#a-client-calls-in-a-loop",
  "client calls a tool in a loop": "operations/#a-client-calls-in-a-loop",
  "too many calls": "operations/#a-client-calls-in-a-loop",
  "hacked": "operations/#the-server-or-hub-was-broken-into",
  "compromised": "operations/#the-server-or-hub-was-broken-into",
  "hub was broken into": "operations/#the-server-or-hub-was-broken-into",
  "server hacked": "operations/#the-server-or-hub-was-broken-into",
  "firewall": "hub/#firewall",
  "roll back": "upgrade/#roll-back-to-an-older-version",
  "downgrade": "upgrade/#roll-back-to-an-older-version",
  "checksum": "install/#checksum",
  "update": "upgrade/#",
  "folder for a week": "clients/#a-folder-for-a-friend",
  "share a folder for a week": "clients/#a-folder-for-a-friend",
  "second folder": "clients/#a-second-folder",
  "claude_desktop_config.json": "clients/#claude-desktop",
  "Claude does not see a new file": "troubleshooting/#claude-does-not-see-a-new-file",
  "machine does not show up": "troubleshooting/#the-machine-does-not-show-up",
  "what did Claude do yesterday": "faq/#what-has-claude-read",
  "do my files leave my machine": "faq/#privacy",
  "logging": "agent/#logging",
  "embed an Agent on Deno": "install/#the-library-in-deno",
  "may have run": "agent/#retry-a-call-that-may-have-run",
  "retry": "agent/#retry-a-call-that-may-have-run",
  "AbortError": "agent/#tools",
  'error: Cannot change "/home/ada/.config/Claude/claude_desktop_config.json": invalid JSON: unterminated string; add the closing quote (line 6). Nothing was changed; correct the file, and try again':
    "troubleshooting/#cannot-change",
  "trustProxy": "server/#in-a-program",
  "claude_desktop_config.json damaged": "troubleshooting/#claudes-configuration-is-damaged",
  "invalid JSON": "troubleshooting/#claudes-configuration-is-damaged",
  "trailing comma": "troubleshooting/#claudes-configuration-is-damaged",
  "spawn a2c-smcp ENOENT": "troubleshooting/#spawn-a2c-smcp-enoent",
  "rename a computer with a token": "machines/#rename-a-computer-that-uses-a-token",
  "folder for Claude by hand": "clients/#by-hand",
  "No space left on device": "troubleshooting/#no-space-left-on-device",
  "ddos": "operations/#a-flood-of-connections-or-requests",
  "brute force": "operations/#wrong-codes-or-tokens-brute-force",
  "rate limit": "operations/#quotas-and-rate-limits",
  "unit test": "agent/#unit-tests",
  "not_running": "protocol/errors/4003/",
  "two hubs": "hub/#two-hubs-on-one-machine",
  "both machines at home": "clients/",
  "folder moved": "documents/#a-folder-that-has-moved",
  "ask before changes": "computer/#ask-before-changes-only",
  "mirror": "install/#variables-of-the-script",
  "Computer does not come back": "operations/#a-computer-does-not-come-back",
  'error: Cannot complete "client:tool_call": connection lost': "troubleshooting/#connection-lost",
};

interface Page {
  /** Below the site's root, such as `computer/index.html`. */
  readonly path: string;
  readonly bytes: number;
  readonly links: readonly string[];
  /** What the browser fetches with the page. */
  readonly loads: readonly string[];
  readonly ids: ReadonlySet<string>;
  /** The ids that several elements have. */
  readonly twice: readonly string[];
}

// deno-lint-ignore no-explicit-any -- the nodes of parse5 have many types
function* elementsOf(node: any): Generator<{ tagName: string; attributes: Map<string, string> }> {
  if (node.tagName !== undefined) {
    const attributes = new Map<string, string>(node.attrs.map(({ name, value }: Attribute) => [name, value]));
    yield { tagName: node.tagName, attributes };
  }
  for (const child of node.childNodes ?? []) yield* elementsOf(child);
}

interface Attribute {
  readonly name: string;
  readonly value: string;
}

async function readPage(folder: string, path: string): Promise<Page> {
  const text = await Deno.readTextFile(join(folder, path));
  const elements = [...elementsOf(parse(text))];
  const valuesOf = (tags: readonly string[], name: string) =>
    elements.filter(({ tagName }) => tags.includes(tagName)).flatMap(({ attributes }) =>
      attributes.get(name) ?? []
    );
  const styles = elements.filter(({ attributes }) => attributes.get("rel") === "stylesheet");
  const loads = [
    ...valuesOf(["script", "img", "iframe", "video", "source"], "src"),
    ...styles.flatMap(({ attributes }) => attributes.get("href") ?? []),
  ];
  const ids = elements.flatMap(({ attributes }) => attributes.get("id") ?? []);
  return {
    path,
    bytes: await sizeOf(folder, path, path),
    links: valuesOf(["a"], "href"),
    loads,
    ids: new Set(ids),
    twice: ids.filter((id, index) => ids.indexOf(id) !== index),
  };
}

/** The bytes of a file that this page shows. */
async function sizeOf(folder: string, file: string, page: string): Promise<number> {
  const content = new Blob([await Deno.readFile(join(folder, file))]);
  if (!REFERENCE.test(page)) return content.size;
  return (await new Response(content.stream().pipeThrough(new CompressionStream("gzip"))).bytes()).length;
}

async function listPages(folder: string, below = ""): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(folder, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    if (isDirectory && name !== "pagefind") paths.push(...await listPages(folder, path));
    else if (name.endsWith(".html")) paths.push(path);
  }
  return paths;
}

/** Where a relative link leads, and its anchor; nothing for an address elsewhere. */
function resolveLink(
  page: Page,
  link: string,
): { readonly path: string; readonly anchor: string } | undefined {
  const url = new URL(link.replace(HOME, "/"), `site://x/${page.path}`);
  if (url.protocol !== "site:") return undefined;
  const path = url.pathname.slice(1);
  return { path: path === "" || path.endsWith("/") ? `${path}index.html` : path, anchor: url.hash.slice(1) };
}

/** Serves the files of a folder on this machine. */
function serveFolder(folder: string): AsyncDisposable & { readonly url: string } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async ({ url }) => {
    const path = join(folder, decodeURIComponent(new URL(url).pathname));
    const body = await Deno.readFile(path.endsWith("/") ? `${path}index.html` : path).catch(() => undefined);
    const type = TYPES.find(([end]) => path.endsWith(end))?.[1] ?? "application/octet-stream";
    return new Response(body ?? null, { status: body ? 200 : 404, headers: { "content-type": type } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const TYPES = [
  ["/", "text/html"],
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".css", "text/css"],
  [".svg", "image/svg+xml"],
] as const;

Deno.test("the site has each page of the documentation, whole, small and by itself", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "site-" });
  try {
    const args = ["task", "site", folder];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
    assert(success, new TextDecoder().decode(stderr));
    const pages = await Promise.all((await listPages(folder)).map((path) => readPage(folder, path)));
    const known = new Map(pages.map((page) => [page.path, page]));
    const inChromium = (name: string, fn: (page: Chromium, url: string) => Promise<void>) =>
      t.step({
        name,
        ignore: !hasChromium,
        fn: async () => {
          await using server = serveFolder(folder);
          await using page = await Chromium.open();
          await page.goTo(server.url);
          await page.find(".copy"); // what site.js adds
          await fn(page, server.url);
        },
      });

    await t.step("each Markdown file of docs/ is a page", async () => {
      const files: string[] = [];
      for (const below of ["docs", "docs/protocol", "docs/decisions"]) {
        for await (const { name } of Deno.readDir(join(ROOT, below))) {
          if (name.endsWith(".md")) {
            files.push(`${below}/${name}`.replace("docs/", "").replace("README.md", ""));
          }
        }
      }
      const missing = files.map((file) => file.replace(/\.md$/, "/"))
        .filter((address) => !known.has(`${address.toLowerCase()}index.html`));
      assertEquals(missing, [], "site/pages.ts lacks them");
    });
    await t.step("each error code has a page", () => {
      for (const code of [400, 404, 4003, 4008, 4201]) {
        assert(known.has(`protocol/errors/${code}/index.html`), `no page of ${code}`);
      }
    });
    await t.step("each link leads to a page and an anchor that are there", () => {
      const broken = pages.flatMap((page) =>
        page.links.filter((link) => {
          const target = resolveLink(page, link);
          if (target === undefined) return false;
          const found = known.get(target.path);
          return found === undefined ||
            (target.anchor !== "" && !found.ids.has(decodeURIComponent(target.anchor)));
        }).map((link) => `${page.path}: ${link}`)
      );
      assertEquals(broken, []);
    });
    await t.step("each message of Troubleshooting has an id of its own", () => {
      assertEquals(known.get("troubleshooting/index.html")?.twice, []);
    });
    await t.step("no page loads anything from elsewhere, or more than 100 kB", async () => {
      for (const page of pages) {
        let bytes = page.bytes;
        for (const load of page.loads) {
          const target = resolveLink(page, load);
          assert(target !== undefined, `${page.path} loads ${load}`);
          if (!/\.(?:png|svg)$/.test(target.path)) bytes += await sizeOf(folder, target.path, page.path);
        }
        assert(bytes <= MAX_PAGE_BYTES, `${page.path}: ${bytes} bytes`);
      }
    });
    await t.step("what the search loads at once is less than 100 kB", async () => {
      assert(await sizeOf(folder, "titles.json", "api/sdk/") <= MAX_PAGE_BYTES);
    });
    await t.step("language models find all of it", async () => {
      const index = await Deno.readTextFile(join(folder, "llms.txt"));
      const whole = await Deno.readTextFile(join(folder, "llms-full.txt"));
      assertEquals(/\]\([\w./-]+\.md/.exec(whole), null);
      for (const title of ["Run a Computer", "Errors", "Run a Server"]) {
        assert(index.includes(`[${title}](`) && whole.includes(`# ${title}\n`), title);
      }
    });
    await t.step("an error page links the rows of Troubleshooting with its code", () => {
      const links = known.get("protocol/errors/4005/index.html")?.links ?? [];
      assert(links.filter((link) => link.includes("troubleshooting/#needs-a-confirmation")).length >= 2);
    });
    await inChromium("no page is wider than a phone or a screen", async (page, url) => {
      const tooWide: string[] = [];
      for (const width of [360, 1_440]) {
        await page.showAs({ width, scheme: "light" });
        // A page of a symbol is as the others.
        for (const { path } of pages.filter(({ path }) => !path.includes("~"))) {
          await page.goTo(url + path);
          const look = `document.readyState === "complete" && location.pathname === "/${path}" &&
              document.documentElement.scrollWidth`;
          const shown = await eventually(() => page.evaluate(look), (shown) => Number(shown) > 0, path);
          if (Number(shown) > width) tooWide.push(`${path}: ${shown} of ${width}`);
        }
      }
      assertEquals(tooWide, []);
    });
    await inChromium(
      "a heading that a link leads to, also one of the third level, is below the header of a phone",
      async (page, url) => {
        await page.showAs({ width: 360, scheme: "light" });
        await page.goTo(`${url}clients/`);
        await page.find(".copy");
        await page.click("#site-contents summary");
        await page.click('#site-contents [href="#my-pc-from-elsewhere"]');
        const look = `document.querySelector(":target").getBoundingClientRect().top -
          document.querySelector("header").getBoundingClientRect().bottom`;
        await eventually(
          () => page.evaluate(look),
          (gap) => Number(gap) >= 0 && Number(gap) < 60,
          "the heading below the header",
        );
      },
    );
    await inChromium(
      "the search finds the answer to what people type, or to an error that is pasted whole",
      async (page, url) => {
        const wrong: string[] = [];
        for (const [text, path] of Object.entries(ASKED)) {
          await page.type("#query", text);
          await page.find("#hits a");
          const first = String(await page.evaluate('document.querySelector("#hits a").href'));
          if (!first.startsWith(url + path)) wrong.push(`${text} finds ${first}`);
          await page.press("Escape"); // empties the search
        }
        assertEquals(wrong, []);
        await page.type("#query", "call a tool");
        await page.find("#hits [href$='RemoteComputer.prototype.callTool.html']");
        await page.press("Escape");
        await page.type("#query", "purple elephants");
        await page.textWith("No page has");
        await page.press("Escape");
      },
    );
    await inChromium("the search finds pages without the list of titles", async (page) => {
      const list = join(folder, "titles.json");
      const text = await Deno.readTextFile(list);
      await Deno.remove(list);
      try {
        await page.type("#query", "join by code");
        await page.find("#hits a");
      } finally {
        await Deno.writeTextFile(list, text);
      }
    });
    await inChromium(
      "in the search, arrows go through the hits, and Enter opens the first",
      async (page) => {
        await page.type("#query", "limits");
        await page.find("#hits li + li a");
        const focused = () =>
          page.evaluate('[query, ...hits.querySelectorAll("a")].indexOf(document.activeElement)');
        const places: unknown[] = [];
        for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp"] as const) {
          await page.press(key);
          places.push(await focused());
        }
        assertEquals(places, [1, 2, 1, 0, 0]);
        await page.press("Escape");
        await page.type("#query", "join by code");
        await page.press("Enter"); // before there are hits
        const opened = () => page.evaluate("location.pathname + location.hash");
        await eventually(opened, (path) => path === "/machines/#join-by-code", "the page of the first hit");
      },
    );
  } finally {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
});

Deno.test("the site keeps the newest release of each minor version, and no more than five", () => {
  const tags = [
    "v0.1.0",
    "v0.10.0",
    "v0.2.0",
    "v0.2.1",
    "v0.2.10-rc.1",
    "v0.2.9",
    "v1.0.0",
    "v1.1.0",
    "other",
    "",
  ];
  const kept = newestReleases(tags).map(({ tag, folder }) => `${folder}: ${tag}`);
  assertEquals(kept, ["v1.1: v1.1.0", "v1.0: v1.0.0", "v0.10: v0.10.0", "v0.2: v0.2.9", "v0.1: v0.1.0"]);
  assertEquals(newestReleases([...tags, "v1.2.0"]).at(-1)?.folder, "v0.2");
});
