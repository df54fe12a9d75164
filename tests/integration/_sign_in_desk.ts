// `auth login` with a test in the place of the person: it reads the page, fills in the forms, and pastes.

import { join } from "@std/path";
import { type DoorOutcome, type RunningDoor, startDoor } from "../fixtures/door.ts";
import { startHosted } from "../fixtures/hosted_door.ts";
import { fillForms, type FormOptions } from "../fixtures/sign_in_forms.ts";
import { Workplace } from "./_computer_program.ts";

/** A sign-in that waits for its person. */
export class Login implements AsyncDisposable {
  readonly door: RunningDoor;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;

  /** With other variables it is a process of its own, whose programs get them, too. */
  constructor(args: readonly string[], place: Workplace, env: Readonly<Record<string, string>> = {}) {
    const start = Object.keys(env).length === 0 ? startHosted : startDoor;
    this.door = start("computer.ts", ["auth", "login", ...args], {
      env: { ...place.env, ...env },
      keepsInput: true,
    });
    this.#input = this.door.input.getWriter();
  }

  /** The page that the person is asked to open. */
  async url(): Promise<string> {
    await this.door.stdout.until("redirect_uri");
    await this.door.stdout.until("\n\n");
    return urlIn(this.door.stdout.text);
  }

  /** Does what the pages ask for, and resolves to the address that the browser would open at the end. */
  async fill(options: FormOptions = {}): Promise<string> {
    return await fillForms(await this.url(), options);
  }

  async paste(line: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${line}\n`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.door[Symbol.asyncDispose]();
  }
}

/** The page to open in what `auth login` has printed. */
export function urlIn(text: string): string {
  const [url] = /http:\/\/[^\s"]+\/auth\?[^\s"]+/.exec(text) ?? [];
  if (url === undefined) throw new Error(`Cannot find the page to open in "${text}"`);
  return url;
}

/** A folder with a configuration, in which commands run with `--config` or without it. */
export class Desk implements Disposable {
  readonly place: Workplace = new Workplace();
  readonly config: readonly string[];

  constructor(config: Record<string, unknown>) {
    this.config = ["--config", this.place.write("mcp.json", config)];
  }

  /** Begins a sign-in without a running Computer, with these variables in its environment. */
  login(env: Readonly<Record<string, string>>, ...args: readonly string[]): Login {
    return new Login([...args, ...this.config], this.place, env);
  }

  /** Begins a sign-in at the running Computer. */
  loginAtComputer(...args: readonly string[]): Login {
    return new Login(args, this.place);
  }

  async run(...args: readonly string[]): Promise<DoorOutcome> {
    return await this.place.run([...args, ...this.config]);
  }

  /** The JSON of `auth status` for `guarded`. */
  async status(): Promise<Record<string, unknown>> {
    const { stdout } = await this.run("auth", "status", "guarded", "--json");
    const { servers: [row] } = JSON.parse(stdout);
    return row;
  }

  get tokenFile(): string {
    return join(this.place.folder, "a2c-smcp", "tokens.json");
  }

  [Symbol.dispose](): void {
    this.place[Symbol.dispose]();
  }
}
