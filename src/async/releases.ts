/** What is freed together, the last first; Node 22 has no `DisposableStack`. */
export class Releases implements Disposable {
  #frees: (() => void)[] = [];

  defer(free: () => void): void {
    this.#frees.push(free);
  }

  use<T extends Disposable>(value: T): T {
    this.defer(() => value[Symbol.dispose]());
    return value;
  }

  /** The same to be freed later; this object frees nothing any more. */
  move(): Releases {
    const moved = new Releases();
    moved.#frees = this.#frees.splice(0);
    return moved;
  }

  [Symbol.dispose](): void {
    for (const free of this.#frees.splice(0).reverse()) free();
  }
}
