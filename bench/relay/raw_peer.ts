/**
 * The least of a Socket.IO client: it writes and cuts frames by hand, so that the Server under load is what is
 * measured, not its clients.
 */

/** Connected to `/smcp` and joined. */
export class RawPeer implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #onFrame: (frame: string) => void;
  readonly #acks = new Map<number, () => void>();
  #nextId = 0;
  #onConnect: () => void = () => {};

  private constructor(socket: WebSocket, onFrame: (frame: string) => void) {
    this.#socket = socket;
    this.#onFrame = onFrame;
    socket.onmessage = ({ data }) => this.#receive(String(data));
  }

  /** Joins as an Agent, which asks. */
  static async agent(port: number): Promise<RawPeer> {
    const peer = await RawPeer.#connect(port, () => {});
    await peer.request("server:join_office", `{"role":"agent","name":"a","office_id":"bench"}`);
    return peer;
  }

  /** Joins as a Computer, which answers every request with the same JSON. */
  static async computer(port: number, answer: string): Promise<RawPeer> {
    const peer = await RawPeer.#connect(port, (frame) => {
      if (!frame.startsWith("42/smcp,")) return;
      peer.#socket.send(`43/smcp,${frame.slice(8, frame.indexOf("[", 8))}[${answer}]`);
    });
    await peer.request("server:join_office", `{"role":"computer","name":"c","office_id":"bench"}`);
    return peer;
  }

  static async #connect(port: number, onFrame: (frame: string) => void): Promise<RawPeer> {
    const query = "EIO=4&transport=websocket&a2c_version=0.2.0";
    const peer = new RawPeer(new WebSocket(`ws://127.0.0.1:${port}/socket.io/?${query}`), onFrame);
    await new Promise<void>((resolve) => peer.#onConnect = resolve);
    return peer;
  }

  /** Sends an event and resolves once its ack is here. */
  request(event: string, body: string): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#acks.set(id, resolve);
      this.#socket.send(`42/smcp,${id}["${event}",${body}]`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.onclose = resolve);
    this.#socket.close();
    await closed;
  }

  #receive(frame: string): void {
    if (frame.startsWith("43/smcp,")) {
      const id = Number(frame.slice(8, frame.indexOf("[", 8)));
      this.#acks.get(id)?.();
      this.#acks.delete(id);
    } else if (frame.startsWith("40/smcp,")) this.#onConnect();
    else if (frame.startsWith("0")) this.#socket.send("40/smcp,");
    else if (frame === "2") this.#socket.send("3");
    else this.#onFrame(frame);
  }
}
