/** An Agent and a Computer in their own office. They make relayed calls and check each answer. */
import { NUMBER, OutgoingFrame } from "./frames.ts";
import { RawPeer } from "./raw_peer.ts";

/** The number of the first request. All later numbers have as many digits. */
const FIRST_NUMBER = 1_000_000;
const NUMBER_DIGITS = 7;

/** The options of a pair. */
export interface PairOptions {
  readonly port: number;
  readonly version: string;
  /** A part of all names, which makes them unique. */
  readonly id: string;
  /** The size of the text in each request and in each answer. */
  readonly payloadBytes: number;
  /** The port for the Computer, if it connects to another process of a cluster; `port` by default. */
  readonly computerPort?: number;
}

/** A connected pair, see {@linkcode Pair.connect}. */
export class Pair implements AsyncDisposable {
  readonly #agent: RawPeer;
  readonly #computer: RawPeer;
  readonly #request: OutgoingFrame;
  readonly #text: string;
  readonly #answer: string;
  /** The answers by the number of digits of their ids. The Server chooses the ids. */
  readonly #answers: OutgoingFrame[] = [];
  #number = FIRST_NUMBER;
  #answerBytes = 0;

  private constructor(peers: { agent: RawPeer; computer: RawPeer }, { id, payloadBytes }: PairOptions) {
    this.#agent = peers.agent;
    this.#computer = peers.computer;
    this.#text = buildText(payloadBytes);
    this.#answer = JSON.stringify({ content: [{ type: "text", text: this.#text }], isError: false });
    const request = `42/smcp,${NUMBER}["client:tool_call",${this.#buildCall(id, NUMBER)}]`;
    this.#request = new OutgoingFrame(request, { width: NUMBER_DIGITS });
    this.#computer.onRequest = (number) => this.#computer.send(this.#answerTo(number), number);
  }

  /** Connects both members, and makes one call whose request and answer are compared in full. */
  static async connect(options: PairOptions): Promise<Pair> {
    const { id, version, port, computerPort = port } = options;
    const rest = { version, office: `office-${id}` };
    const computer = await RawPeer.join({ ...rest, port: computerPort, role: "computer", name: `c${id}` });
    const agent = await RawPeer.join({ ...rest, port, role: "agent", name: `a${id}` });
    const pair = new Pair({ agent, computer }, options);
    await pair.#check(id);
    return pair;
  }

  /** Makes a call and resolves to whether it was answered. Rejects if the size of the answer is wrong. */
  call(): Promise<boolean> {
    return this.#agent.request(this.#request, this.#number++, this.#answerBytes);
  }

  /** Gives up all calls in flight. */
  giveUp(): void {
    this.#agent.giveUp();
  }

  /** Rejects when one of the connections ends. */
  async ended(): Promise<never> {
    const reason = await Promise.race([this.#agent.closed, this.#computer.closed]);
    throw new TypeError(`Cannot go on: ${reason}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#agent[Symbol.asyncDispose](), this.#computer[Symbol.asyncDispose]()]);
  }

  async #check(id: string): Promise<void> {
    const answer = this.#computer.onRequest;
    const asked = Promise.withResolvers<string>();
    this.#computer.onRequest = (number, message) => {
      asked.resolve(message.text ?? "");
      answer(number, message);
    };
    this.#computer.keepsTexts = true;
    const text = await this.#agent.requestText("client:tool_call", this.#buildCall(id, "0"));
    this.#computer.keepsTexts = false;
    this.#computer.onRequest = answer;
    const request = await asked.promise;
    const [, { params }] = JSON.parse(request.slice(request.indexOf("[")));
    // Parsed, because some Servers write the keys in another order.
    const [{ content: [item] = [], isError = true }] = JSON.parse(text);
    if (params.text !== this.#text || item?.text !== this.#text || isError) {
      throw new TypeError(`Cannot measure a Server that answers ${text.slice(0, 100)}`);
    }
    this.#answerBytes = "43/smcp,[]".length + NUMBER_DIGITS + new TextEncoder().encode(text).length - 2;
  }

  #buildCall(id: string, number: string): string {
    const call = `"agent":"a${id}","req_id":"r${number}","computer":"c${id}","tool_name":"echo","timeout":30`;
    return `{${call},"params":{"text":${JSON.stringify(this.#text)}}}`;
  }

  #answerTo(number: number): OutgoingFrame {
    const width = String(number).length;
    return this.#answers[width] ??= new OutgoingFrame(`43/smcp,${NUMBER}[${this.#answer}]`, { width });
  }
}

/** Lines of text like the results of tools: each hundred characters contain a line feed and several quotes. */
function buildText(sizeBytes: number): string {
  const line = `${'a line of ordinary text with a "word" in quotes, '.repeat(2).slice(0, 95)}\n`;
  return line.repeat(Math.ceil(sizeBytes / line.length)).slice(0, sizeBytes);
}
