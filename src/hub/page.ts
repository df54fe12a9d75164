/** The pages of a hub that a person sees while a client is connected: plain HTML without scripts. Pure. */
import { createHash } from "node:crypto";
import { ACCESS_RIGHTS, type AccessRights } from "../protocol/rights.ts";
import { escapeHtml, toBareLine } from "../text/safe_text.ts";
import { OWN_MACHINE } from "./clients.ts";

/** A page and the headers that protect it. */
export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
}

/** Who asks, and for what. The client has chosen its name. */
export interface AskingClient {
  readonly name: string;
  /** The host of its metadata document; `undefined` for one that has registered itself. */
  readonly documentHost: string | undefined;
  /** Where the browser goes afterwards, in words. */
  readonly returnsTo: string;
  /** The same as an address, for the browser. */
  readonly redirectUri: string;
}

export interface ProvePage {
  readonly client: AskingClient;
  /** The office that the client names; `undefined` for all that the person may give. */
  readonly office: string | undefined;
  readonly problem: string | undefined;
  readonly canSignIn: boolean;
}

export interface ConsentPage {
  readonly client: AskingClient;
  readonly consentedBy: string;
  readonly offices: readonly OfficeOnPage[];
  /** Whether the person may leave out an office. */
  readonly isChoice: boolean;
  readonly rights: readonly AccessRights[];
  readonly problem: string | undefined;
}

export interface OfficeOnPage {
  readonly name: string;
  /** `undefined` where the hub cannot tell. */
  readonly computers: readonly string[] | undefined;
}

/** Asks for the proof that this person may connect a client. Says nothing about offices but what the client has said. */
export function provePage({ client, office, problem, canSignIn }: ProvePage): Page {
  const target = office === undefined ? "your offices" : `the office ${named(office)}`;
  const operator = `
    <details>
      <summary>I operate this hub</summary>
      <label for="token">Operator's token</label>
      <input id="token" name="token" type="password" autocomplete="current-password">
    </details>`;
  const body = `
  <h1>Connect ${named(client.name)}?</h1>
  <p>A program that calls itself ${named(client.name)} wants to use ${target}.</p>
  ${facts(client)}
  ${alert(problem)}
  <form method="post">
    <label for="code">Invitation code</label>
    <input id="code" name="code" type="text" autocomplete="one-time-code" autocapitalize="characters"
      spellcheck="false" maxlength="64" autofocus aria-describedby="code-help"${
    problem === undefined ? "" : ' aria-invalid="true"'
  }>
    <p class="help" id="code-help">From <code>a2c-smcp hub invite</code>, such as <code>ABCD-2345</code>. It is good once,
      for 10 minutes.</p>${canSignIn ? operator : ""}
    <div class="buttons">
      <button name="step" value="prove">Continue</button>
      <button name="step" value="deny" class="quiet">Cancel</button>
    </div>
  </form>`;
  return page("Connect a client", body, { redirectUri: client.redirectUri });
}

/** Asks what the client may do. */
export function consentPage(options: ConsentPage): Page {
  const { client, consentedBy, rights, problem } = options;
  const body = `
  <h1>What may ${named(client.name)} do?</h1>
  ${facts(client)}
  ${alert(problem)}
  <form method="post">
    ${officesOf(options)}
    <fieldset>
      <legend>Rights</legend>
      ${
    ACCESS_RIGHTS.filter((each) => rights.includes(each)).map((each) => choice(each, chosen(rights))).join("")
  }
    </fieldset>
    <p class="help">You consent as ${
    named(consentedBy)
  }. Whoever operates the hub can take this back at any time with
      <code>a2c-smcp hub grants revoke</code>.</p>
    <div class="buttons">
      <button name="step" value="allow">Allow</button>
      <button name="step" value="deny" class="quiet">Do not allow</button>
    </div>
  </form>`;
  return page("Connect a client", body, { redirectUri: client.redirectUri });
}

/** Tells what went wrong, where the client cannot be told. */
export function problemPage(
  { status, title, text }: { readonly status: number; readonly title: string; readonly text: string },
): Page {
  return page(title, `<h1>${escapeHtml(title)}</h1>\n  <p role="alert">${escapeHtml(text)}</p>`, { status });
}

const RIGHTS_TEXT: Readonly<Record<AccessRights, readonly [title: string, text: string]>> = {
  read: [
    "Read",
    "See windows and documents, and use tools that say that they change nothing, all without a confirmation",
  ],
  confirm: [
    "Ask before each change",
    "Use all tools; what may change something is asked at the machine first. Windows and documents can be read without " +
    "a confirmation",
  ],
  call: ["Use everything", "Use all tools without a question of the hub"],
};

/** What is chosen until the person chooses: not more than is asked at the machine. */
function chosen(rights: readonly AccessRights[]): AccessRights {
  return rights.includes("confirm") ? "confirm" : "read";
}

function choice(rights: AccessRights, checked: AccessRights): string {
  const [title, text] = RIGHTS_TEXT[rights];
  return `<div class="choice">
        <input type="radio" id="rights-${rights}" name="rights" value="${rights}" required${
    rights === checked ? " checked" : ""
  } aria-describedby="about-${rights}">
        <label for="rights-${rights}">${title}</label>
        <p class="help" id="about-${rights}">${text}</p>
      </div>
      `;
}

function facts({ documentHost, returnsTo }: AskingClient): string {
  const known = documentHost === undefined
    ? "nobody: it has registered itself, under a name of its choice"
    : wholeHost(documentHost);
  const place = returnsTo === OWN_MACHINE ? "a program on this machine" : wholeHost(returnsTo);
  return `<dl>
    <dt>Afterwards you return to</dt><dd>${place}</dd>
    <dt>Vouched for by</dt><dd>${known}</dd>
  </dl>`;
}

function officesOf({ offices, isChoice }: ConsentPage): string {
  const items = offices.map(({ name, computers }, index) => {
    const about = computers === undefined
      ? ""
      : computers.length === 0
      ? "no Computer is connected at the moment"
      : `Computers: ${computers.map(named).join(", ")}`;
    const help = `<p class="help" id="office-help-${index}">${about}</p>`;
    if (!isChoice) return `<li><strong>${named(name)}</strong>${help}</li>`;
    return `<div class="choice">
        <input type="checkbox" id="office-${index}" name="office" value="${escapeHtml(name)}" checked
          aria-describedby="office-help-${index}">
        <label for="office-${index}">${named(name)}</label>${help}
      </div>`;
  });
  if (isChoice) return `<fieldset><legend>Offices</legend>${items.join("")}</fieldset>`;
  return `<h2>Office</h2><ul>${items.join("")}</ul>`;
}

function alert(problem: string | undefined): string {
  return problem === undefined ? "" : `<p role="alert" class="problem">${escapeHtml(problem)}</p>`;
}

/** A text of somebody else, which cannot change the direction of the text around it. */
function named(text: string): string {
  return cutName(text, MAX_SHOWN_LENGTH);
}

/** A host and its port: who owns it stands at its end. */
function wholeHost(host: string): string {
  return cutName(host, MAX_HOST_LENGTH);
}

function cutName(text: string, maxLength: number): string {
  return `<bdi>${escapeHtml(toBareLine(text, maxLength))}</bdi>`;
}

const MAX_SHOWN_LENGTH = 128;
const MAX_HOST_LENGTH = 260;

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --ground: #f3f4f6; --line: #8c959f;
  --accent: #0b57d0; --on-accent: #ffffff; --alarm: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a4acb6; --paper: #1d2127; --ground: #121519;
  --line: #6e7681; --accent: #8ab4f8; --on-accent: #0b1d3a; --alarm: #f2b8b5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 32rem; margin: 0 auto; padding: 1.5rem 1rem; overflow-wrap: anywhere; }
@media (min-width: 34rem) { main { margin: 3rem auto; padding: 2rem; background: var(--paper); border-radius: .75rem; } }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2, legend, label { font-size: 1rem; font-weight: 600; }
h2 { margin: 1.5rem 0 0; }
ul { margin: .25rem 0 1rem; padding-left: 1.25rem; }
dl { margin: 1rem 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
dt { color: var(--soft); font-size: .875rem; }
dd { margin: 0 0 .5rem; font-weight: 600; }
dd:last-child { margin-bottom: 0; }
fieldset { margin: 1.5rem 0 1rem; padding: .25rem 1rem 0; border: 1px solid var(--line); border-radius: .5rem; }
.choice { display: grid; grid-template-columns: 1.5rem 1fr; column-gap: .5rem; margin: .5rem 0; align-items: center; }
.choice .help { grid-column: 2; }
.choice input { width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
.help { margin: .125rem 0 .5rem; color: var(--soft); font-size: .875rem; }
.problem { padding: .75rem 1rem; border: 2px solid var(--alarm); border-radius: .5rem; color: var(--alarm); font-weight: 600; }
input[type=text], input[type=password] { display: block; width: 100%; margin: .25rem 0 0; padding: .625rem .75rem;
  border: 1px solid var(--line); border-radius: .5rem; background: var(--paper); color: var(--ink); font: inherit; }
#code { letter-spacing: .1em; text-transform: uppercase; }
summary { cursor: pointer; padding: .5rem 0; color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
button { flex: 1 1 8rem; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--accent); border-radius: .5rem;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button.quiet { background: transparent; color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;
const STYLE_DIGEST = createHash("sha256").update(STYLE).digest("base64");

function page(
  title: string,
  body: string,
  { status = 200, redirectUri }: { readonly status?: number; readonly redirectUri?: string },
): Page {
  const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · A2C-SMCP hub</title>
<style>${STYLE}</style>
</head>
<body>
<main>
  ${body}
</main>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_DIGEST}'`,
    // Browsers count the redirects after a form among its targets.
    `form-action 'self'${redirectUri === undefined ? "" : ` ${sourceOf(redirectUri)}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    // With no-referrer, a browser would send a form of this page with the origin "null".
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
  return { status, headers, html };
}

/** The redirect as a source of a content security policy, which has no addresses of IPv6. */
function sourceOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  const isWeb = protocol === "http:" || protocol === "https:";
  return isWeb && !host.startsWith("[") ? `${protocol}//${host}` : protocol;
}
