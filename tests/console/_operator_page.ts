/** The operator's page in Chromium, beside a Server that runs. */
import type { Chromium } from "../fixtures/chromium.ts";
import { ServerDesk } from "../integration/_server_desk.ts";
import { type Membership, RawPeer } from "../integration/_socket.ts";
import { ConsolePage, openLink } from "./_console_page.ts";

export const ADA: Membership = { role: "agent", name: "ada", office_id: "lab" };
export const LAPTOP: Membership = { role: "computer", name: "laptop", office_id: "lab" };
/** Text of others that must stay text. */
export const HOSTILE = "<img src=x onerror=alert(1)>";

export class OperatorPage extends ConsolePage {
  readonly desk: ServerDesk;
  readonly url: string;

  private constructor(browser: Chromium, { desk, url }: Pick<OperatorPage, "desk" | "url">) {
    super(browser);
    this.desk = desk;
    this.url = url;
  }

  /** Starts a Server with these options, and opens its page by its link. */
  static async open(...args: readonly string[]): Promise<OperatorPage> {
    const desk = new ServerDesk();
    const url = await desk.serve(...args);
    const browser = await openLink((await desk.run("console", "--no-open")).stdout.trim());
    return new OperatorPage(browser, { desk, url });
  }

  join(membership: Membership, auth: Readonly<Record<string, unknown>> = {}): Promise<RawPeer> {
    return RawPeer.join(this.url, membership, { auth, headers: { "user-agent": HOSTILE } });
  }

  /** Presses the button of the dialog that does what the dialog is about, as soon as it can be pressed. */
  async confirm(): Promise<void> {
    await this.browser.click('dialog .danger[aria-disabled="false"]');
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.desk[Symbol.asyncDispose]();
  }
}
