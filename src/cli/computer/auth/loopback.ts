/**
 * Listens on the loopback interface for browsers that come back from a sign-in. Sign-ins of this process with the same
 * port share one listener, which offers each request to all of them.
 */
import { settledWithin } from "../../../async/abortable.ts";
import { escapeHtml } from "../../../text/safe_text.ts";

/** The path of the address that a browser is sent to; a segment may follow, for the authorization server. */
const REDIRECT_PATH = "/callback";
const HOSTNAME = "127.0.0.1";
/** The names of this machine in the address bar of a browser on it; another one may be a trap of a web page. */
const HOSTNAMES: readonly string[] = [HOSTNAME, "localhost"];
/** How long open answers may take when the last sign-in of a port is over, in milliseconds. */
const SHUTDOWN_GRACE_MS = 2_000;
/** The most requests that are answered at a time; others get an error. */
const MAX_REQUESTS = 16;

/** What became of a request: the page that the browser shows. */
export type Landing = Exclude<PageKind, "not found">;

export interface AwaitedBrowser {
  readonly server: string;
  /** Takes the address that a browser was sent to; `not awaited` when it belongs to another sign-in. Never rejects. */
  readonly land: (url: string) => Promise<Landing>;
}

/** A sign-in's share of a listener. Disposal ends it, and the listener with the last one. */
export interface LandingPlace extends AsyncDisposable {
  readonly redirectUri: string;
  await(browser: AwaitedBrowser): void;
}

const listeners = new Map<number, Listener>();

/**
 * Opens a place to land on.
 *
 * @param port 0 for any free port.
 * @return `undefined` when another process has the port, and without the permission to listen.
 */
export function openLandingPlace(port: number): LandingPlace | undefined {
  const listener = listeners.get(port) ?? Listener.open(port);
  return listener?.open();
}

/** The address that a browser is sent to, whether this process listens there or not. */
export function redirectUriOf(port: number): string {
  return `http://${HOSTNAME}:${port}${REDIRECT_PATH}`;
}

/** Listens at one port for all sign-ins that use it. */
class Listener {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #places = new Set<{ browser: AwaitedBrowser | undefined }>();
  #requests = 0;

  private constructor(port: number) {
    this.#server = Deno.serve({
      hostname: HOSTNAME,
      port,
      onListen: () => {},
      onError: () => buildPage("failed"),
    }, (request) => this.#answer(request));
    listeners.set(this.port, this);
  }

  /** `undefined` when the port is in use, and without the permission to listen, which is not requested. */
  static open(port: number): Listener | undefined {
    const permission = { name: "net", host: `${HOSTNAME}:${port}` } as const;
    if (Deno.permissions.querySync(permission).state !== "granted") return undefined;
    try {
      return new Listener(port);
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) return undefined;
      throw error;
    }
  }

  get port(): number {
    return this.#server.addr.port;
  }

  open(): LandingPlace {
    const place: { browser: AwaitedBrowser | undefined } = { browser: undefined };
    this.#places.add(place);
    return {
      redirectUri: redirectUriOf(this.port),
      await: (browser) => void (place.browser = browser),
      [Symbol.asyncDispose]: () => this.#leave(place),
    };
  }

  async #leave(place: { browser: AwaitedBrowser | undefined }): Promise<void> {
    this.#places.delete(place);
    if (this.#places.size > 0) return;
    listeners.delete(this.port);
    await settledWithin(this.#server.shutdown(), SHUTDOWN_GRACE_MS);
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const isBelow = `${url.pathname}/`.startsWith(`${REDIRECT_PATH}/`);
    const isMeant = request.method === "GET" && isBelow &&
      HOSTNAMES.includes(url.hostname) && Number(url.port || 80) === this.port;
    if (!isMeant) return buildPage("not found");
    if (this.#requests >= MAX_REQUESTS) return buildPage("not awaited");
    this.#requests++;
    try {
      return await this.#land(`http://${HOSTNAME}:${this.port}${url.pathname}${url.search}`);
    } finally {
      this.#requests--;
    }
  }

  async #land(url: string): Promise<Response> {
    for (const { browser } of [...this.#places]) {
      const landing = await browser?.land(url) ?? "not awaited";
      if (landing !== "not awaited") return buildPage(landing, browser?.server);
    }
    return buildPage("not awaited");
  }
}

export type PageKind = "done" | "failed" | "not awaited" | "not found";

const PAGES: Readonly<
  Record<PageKind, { readonly status: number; readonly title: string; readonly text: string }>
> = {
  done: {
    status: 200,
    title: "You are signed in",
    text: "You can close this window and go back to the terminal.",
  },
  failed: {
    status: 400,
    title: "The sign-in failed",
    text: "The terminal shows the reason. You can close this window, and start the sign-in there again.",
  },
  "not awaited": {
    status: 400,
    title: "This address belongs to no sign-in that is awaited here",
    text: "If a terminal waits for the sign-in, copy the whole address of this page and paste it there.",
  },
  "not found": {
    status: 404,
    title: "There is no page here",
    text: "This address is used for the end of a sign-in only.",
  },
};

/** The headers of every answer: no script, no frame, no referrer with the code in it, no copy in a cache. */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  connection: "close",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  "content-type": "text/html; charset=utf-8",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const STYLE = "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1rem;" +
  "color:#1b1f24;background:#fff}h1{font-size:1.5rem}@media(prefers-color-scheme:dark){body{color:#e6e8ea;" +
  "background:#16181b}}";

/** @param server The name of the MCP server, which the configuration gives it. */
export function buildPage(kind: PageKind, server?: string): Response {
  const { status, title, text } = PAGES[kind];
  const whose = server === undefined ? "" : ` at MCP server “${escapeHtml(server)}”`;
  const heading = kind === "done" ? `${title}${whose}` : title;
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><main><h1>${heading}</h1><p>${text}</p></main></body></html>\n`;
  return new Response(body, { status, headers: HEADERS });
}
