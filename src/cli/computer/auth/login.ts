/** One sign-in at an MCP server, with a person at a browser on this machine or on another one. */
import type { ComputerSignIns } from "../../../computer/sign_ins.ts";
import { SignInError } from "../../../mcp/errors.ts";
import type { BrowserSignIn, DeviceSignIn, SignIn } from "../../../mcp/auth/sign_in.ts";
import { describeError } from "../../../text/text.ts";
import type { Conversation } from "../../control/conversation.ts";
import { type Landing, type LandingPlace, openLandingPlace, redirectUriOf } from "./loopback.ts";

export interface LoginOptions {
  readonly server: string;
  /** The port to which the browser returns. By default that of the configuration or of the last sign-in, else a free one. */
  readonly port?: number | undefined;
  /** Whether the person enters a code on any device; by default as the configuration says. */
  readonly device?: boolean | undefined;
  /** Whether the page is opened in the browser of this machine; false by default. */
  readonly open?: boolean | undefined;
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
}

/**
 * Signs in; resolves when the tokens are stored. It has no time limit of its own.
 *
 * @return The kind of the sign-in.
 * @throws {TypeError} for a server that no user signs in at.
 * @throws {SignInError} when the sign-in fails.
 * @throws {ExitRequest} when the person ends it.
 */
export async function logIn(
  signIns: Pick<ComputerSignIns, "start" | "redirectPort">,
  options: LoginOptions,
): Promise<SignIn["kind"]> {
  const { server, device, signal, conversation } = options;
  const over = new AbortController();
  const anySignal = AbortSignal.any([signal, over.signal]);
  const port = options.port ?? await signIns.redirectPort(server) ?? 0;
  await using place = device === true ? undefined : landAt(port, { isFixed: options.port !== undefined });
  const redirectUri = place?.redirectUri ?? (port === 0 ? undefined : redirectUriOf(port));
  const signIn = await signIns.start(server, { redirectUri, device, signal: anySignal });
  signIn.finished.catch(() => {});
  try {
    if (signIn.kind === "browser") await inBrowser(signIn, { ...options, place });
    else if (signIn.kind === "device") await onDevice(signIn, { server, conversation, open: options.open });
    return signIn.kind;
  } finally {
    over.abort();
  }
}

/** Listens at the port; at another one if it is taken and may be another; `undefined` without any. */
function landAt(port: number, { isFixed }: { readonly isFixed: boolean }): LandingPlace | undefined {
  return openLandingPlace(port) ?? (isFixed ? undefined : openLandingPlace(0));
}

type Waiting = LoginOptions & { readonly place: LandingPlace | undefined };

async function inBrowser(signIn: BrowserSignIn, waiting: Waiting): Promise<void> {
  const { server, place, conversation, open } = waiting;
  const { url, redirectUri } = signIn;
  place?.await({ server, land: (address) => land(signIn, address) });
  const comesBack = place === undefined
    ? `Nothing listens at ${redirectUri} here. When the browser cannot open that address, paste it`
    : "The browser comes back by itself. If it runs on another machine, paste the address that it shows at the end";
  const parties = partiesOf(signIn, url);
  conversation.tell({
    text:
      `Open this page to sign in at MCP server "${server}":\n\n${url}\n\n${parties.text}\n\n${comesBack}, all of it: the code alone is not enough.`,
    value: {
      type: "open_url",
      server,
      url,
      ...parties.value,
      redirect_uri: redirectUri,
      listens: place !== undefined,
    },
  });
  if (open === true) await openPage(url, conversation);
  const pasting = takePasted(signIn, conversation);
  pasting.catch(() => {});
  await Promise.race([signIn.finished, pasting.then(() => signIn.finished)]);
}

/** Who lets the person in, where, and for what: what a person looks at before a sign-in. */
function partiesOf({ issuer, audience }: Pick<BrowserSignIn, "issuer" | "audience">, url: string) {
  const { origin, pathname } = new URL(url);
  const page = pathname === "/" ? origin : origin + pathname;
  const isElsewhere = URL.parse(issuer)?.origin !== origin;
  const lines = [
    `Authorization server: ${issuer}`,
    `Page: ${page}${isElsewhere ? ", at another address than the authorization server" : ""}`,
    `Tokens are for: ${audience ?? "whatever accepts them; the MCP server does not say"}`,
  ];
  return { text: lines.join("\n"), value: { issuer, page, audience: audience ?? null } };
}

async function land(signIn: BrowserSignIn, address: string): Promise<Landing> {
  try {
    await signIn.finish(address);
    return "done";
  } catch (error) {
    return error instanceof SignInError && !error.isOver ? "not awaited" : "failed";
  }
}

/** Takes pasted lines until the sign-in is over, or nobody can type any more. */
async function takePasted(signIn: BrowserSignIn, conversation: Conversation): Promise<void> {
  const over = new AbortController();
  signIn.finished.finally(() => over.abort("no longer needed")).catch(() => {});
  while (!over.signal.aborted) {
    const line = await conversation.ask({ text: "address: ", signal: over.signal });
    if (line === undefined) return;
    const refusal = await finishWith(signIn, line);
    if (refusal !== undefined && !over.signal.aborted) {
      conversation.tell({ text: refusal, value: { type: "not_accepted", message: refusal } });
    }
  }
}

/** Finishes a sign-in with a pasted line; resolves to why it cannot be finished with that. */
async function finishWith(signIn: BrowserSignIn, line: string): Promise<string | undefined> {
  try {
    await signIn.finish(line);
    return undefined;
  } catch (error) {
    // The end of the sign-in is told by `finished`.
    return error instanceof SignInError && error.isOver ? undefined : describeError(error);
  }
}

async function onDevice(
  signIn: DeviceSignIn,
  { server, conversation, open }: Pick<LoginOptions, "server" | "conversation" | "open">,
): Promise<void> {
  const { url, completeUrl, userCode, expiresAtMs } = signIn;
  const expiresAt = new Date(expiresAtMs);
  const parties = partiesOf(signIn, url);
  const direct = completeUrl === undefined ? "" : `\nor open ${completeUrl}`;
  conversation.tell({
    text: `To sign in at MCP server "${server}", open this page on any device:\n\n${url}\n\n` +
      `and enter the code "${userCode}"${direct}\n\n${parties.text}\n\nThe code is valid until ${
        expiresAt.toLocaleTimeString("sv")
      }.`,
    value: {
      type: "enter_code",
      server,
      url,
      ...parties.value,
      complete_url: completeUrl ?? null,
      user_code: userCode,
      expires_at: expiresAt,
    },
  });
  if (open === true) await openPage(completeUrl ?? url, conversation);
  await signIn.finished;
}

async function openPage(url: string, conversation: Conversation): Promise<void> {
  if (await conversation.open(url)) return;
  const message = "No browser could be opened here; open the page yourself";
  conversation.tell({ text: message, value: { type: "not_opened", message } });
}
