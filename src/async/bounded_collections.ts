/** A map and a set with a bound: what was put in longest ago is dropped for something new. */

/** To set a key anew makes it the newest. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.#maxSize) break;
      this.delete(oldest);
    }
    return this;
  }
}

/** To add a value anew makes it the newest. */
export class BoundedSet<T> extends Set<T> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  override add(value: T): this {
    this.delete(value);
    super.add(value);
    for (const oldest of this) {
      if (this.size <= this.#maxSize) break;
      this.delete(oldest);
    }
    return this;
  }
}
