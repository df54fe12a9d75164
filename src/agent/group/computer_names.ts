/** Names of the Computers of several offices, unique among all of them. Pure. */
import { skeletonOf } from "../../protocol/look_alikes.ts";

/** A Computer of one of several offices. */
export interface ComputerPlace {
  /** The office, by its label in the group. */
  readonly office: string;
  /** The Computer's name in its office. */
  readonly computer: string;
}

/** A name that was given to a Computer, as it is kept over restarts. */
export interface GivenComputerName extends ComputerPlace {
  /** The name in the group: `laptop`, or `laptop@shop`. */
  readonly name: string;
}

/**
 * The most names of one office that are remembered; then those of Computers that are gone are forgotten, the oldest first.
 * An office that makes up names can so forget its own names alone.
 */
const MAX_OF_OFFICE = 2_000;

/**
 * Gives each Computer a name and keeps it, so that a name never leads to another machine. A Computer has its own name
 * while no Computer of another office has that one, or one that looks like it. Computers that come at the same time and
 * share a name are all called `{computer}@{office}`, and so is one whose own name ends like that: it would pass for a
 * Computer of that office.
 */
export class ComputerNames {
  readonly #offices: readonly string[];
  /** By office, then by the name in it. */
  readonly #names = new Map<string, Map<string, string>>();
  readonly #places = new Map<string, ComputerPlace>();
  /** Whose the own names are, by what they look like. */
  readonly #owners = new Map<string, string>();

  constructor(offices: readonly string[], given: Iterable<GivenComputerName> = []) {
    this.#offices = offices;
    for (const office of offices) this.#names.set(office, new Map());
    for (const { name, ...place } of given) {
      // A file of names may have been edited, or written for other offices.
      const isOwn = name === place.computer && this.#isOwnFree(place);
      if (this.nameOf(place) === undefined && (isOwn || name === this.longNameOf(place))) {
        this.#give(place, name);
      }
    }
  }

  /** The names given so far. */
  get given(): GivenComputerName[] {
    return [...this.#places].map(([name, { office, computer }]) => ({ office, computer, name }));
  }

  /** The name of a Computer; `undefined` before {@linkcode assign} saw it, and for one of a foreign office. */
  nameOf({ office, computer }: ComputerPlace): string | undefined {
    return this.#names.get(office)?.get(computer);
  }

  /** The Computer of a name. A name with its office leads there, also while a shorter one is in use. */
  placeOf(name: string): ComputerPlace | undefined {
    return this.#places.get(name) ?? this.#placeOfLong(name);
  }

  /** `{computer}@{office}`, with each `@` and `%` of the two escaped as in a URI, so that it is of one Computer alone. */
  longNameOf({ office, computer }: ComputerPlace): string {
    return `${escape(computer)}@${escape(office)}`;
  }

  /**
   * Names the Computers that have no name yet.
   *
   * @param isPresent Whether a Computer is in its office: its name is not forgotten.
   */
  assign(places: readonly ComputerPlace[], isPresent: (place: ComputerPlace) => boolean): void {
    const nameless = places.filter((place) => this.nameOf(place) === undefined);
    const claims = Map.groupBy(nameless, ({ computer }) => skeletonOf(computer));
    const isAlone = ({ computer }: ComputerPlace) => {
      const offices = new Set((claims.get(skeletonOf(computer)) ?? []).map(({ office }) => office));
      return offices.size === 1;
    };
    const named = nameless.map((place) => {
      const isOwn = isAlone(place) && this.#isOwnFree(place);
      return [place, isOwn ? place.computer : this.longNameOf(place)] as const;
    });
    for (const [place, name] of named) this.#give(place, name);
    for (const office of new Set(nameless.map(({ office }) => office))) this.#forget(office, isPresent);
  }

  #isOwnFree({ office, computer }: ComputerPlace): boolean {
    const owner = this.#owners.get(skeletonOf(computer));
    return (owner === undefined || owner === office) && !this.#endsLikeLong(computer);
  }

  #endsLikeLong(computer: string): boolean {
    const skeleton = skeletonOf(computer);
    return this.#offices.some((office) => skeleton.endsWith(skeletonOf(`@${escape(office)}`)));
  }

  #placeOfLong(name: string): ComputerPlace | undefined {
    const at = name.lastIndexOf("@");
    const office = this.#offices.find((each) => escape(each) === name.slice(at + 1));
    if (at < 1 || office === undefined) return undefined;
    const place = { office, computer: unescape(name.slice(0, at)) };
    return this.longNameOf(place) === name ? place : undefined;
  }

  #give(place: ComputerPlace, name: string): void {
    const { office, computer } = place;
    const names = this.#names.get(office);
    if (names === undefined || this.#places.has(name)) return;
    names.set(computer, name);
    this.#places.set(name, { office, computer });
    if (name === computer) this.#owners.set(skeletonOf(computer), office);
  }

  #forget(office: string, isPresent: (place: ComputerPlace) => boolean): void {
    const names = this.#names.get(office);
    for (const [computer, name] of names ?? []) {
      if (names === undefined || names.size <= MAX_OF_OFFICE) return;
      if (isPresent({ office, computer })) continue;
      names.delete(computer);
      this.#places.delete(name);
      if (name === computer) this.#owners.delete(skeletonOf(computer));
    }
  }
}

/** The names of Computers that somebody has written with their offices, so that the group uses these from the start. */
export function longNames(
  written: readonly string[] | undefined,
  offices: readonly string[],
): GivenComputerName[] {
  const names = new ComputerNames(offices);
  return (written ?? []).flatMap((name) => {
    const place = names.placeOf(name);
    return place === undefined ? [] : [{ ...place, name }];
  });
}

function escape(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("@", "%40");
}

function unescape(part: string): string {
  return part.replaceAll("%40", "@").replaceAll("%25", "%");
}
