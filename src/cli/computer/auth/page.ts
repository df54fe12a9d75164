/** The page that a browser shows at the end of a sign-in. Nothing of the request is on it. Pure. */

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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `&#${character.codePointAt(0)};`);
}
