/** Chooses the next step at random from a seed, depending on the current servers. Pure. */
import type { Random } from "../../tests/fixtures/random.ts";
import { drawProfile, HTTP_SLOT, type Slot, type Slots } from "./scenery.ts";

/** One step. */
export type Step =
  | { readonly kind: "reconfigure"; readonly what: string; readonly slots: Slots }
  | { readonly kind: "reconfigureTwice"; readonly what: string; readonly first: Slots; readonly slots: Slots }
  | { readonly kind: "refusedConfig" }
  | { readonly kind: "startServer" | "stopServer" | "restartServer"; readonly server: string }
  | { readonly kind: "setInput"; readonly value: string }
  | { readonly kind: "provoke"; readonly server: string; readonly tool: "crash" | "freeze" | "hang" }
  | { readonly kind: "takeHttpAway" | "bringHttpBack" }
  | { readonly kind: "cutComputer" | "cutAgent" | "restartOffice" };

/** The state on which a step depends. */
export interface Situation {
  readonly slots: Slots;
  readonly isHttpUp: boolean;
}

type Draw = (situation: Situation, random: Random) => Step;

const DRAWS: readonly (readonly [weight: number, draw: Draw])[] = [
  [6, (situation, random) => reconfigure(situation.slots, random)],
  [1, ({ slots }, random) => {
    const first = changeOne(slots, random);
    const second = changeOne(first.slots, random);
    const what = `${first.what}, ${second.what}`;
    return { kind: "reconfigureTwice", what, first: first.slots, slots: second.slots };
  }],
  [0.4, () => ({ kind: "refusedConfig" })],
  [1, ({ slots }, random) => ({ kind: "stopServer", server: pickName(slots, random) })],
  [3, ({ slots }, random) => ({ kind: "startServer", server: pickName(slots, random) })],
  [2, ({ slots }, random) => ({ kind: "restartServer", server: pickName(slots, random) })],
  [0.6, (_situation, random) => ({ kind: "setInput", value: `value-${random.integer(1, 9)}` })],
  [2, (_situation, random) => ({ kind: "provoke", server: random.pick(["brittle", "calm"]), tool: "crash" })],
  [
    1.5,
    (_situation, random) => ({ kind: "provoke", server: random.pick(["sleepy", "quiet"]), tool: "freeze" }),
  ],
  [1, (_situation, random) => ({ kind: "provoke", server: random.pick(["noisy", "sleepy"]), tool: "hang" })],
  [1, ({ isHttpUp }) => ({ kind: isHttpUp ? "takeHttpAway" : "bringHttpBack" })],
  [0.5, () => ({ kind: "cutComputer" })],
  [0.3, () => ({ kind: "cutAgent" })],
  [0.2, () => ({ kind: "restartOffice" })],
];

/** Chooses the next step. */
export function drawStep(situation: Situation, random: Random): Step {
  return random.pickWeighted(DRAWS)(situation, random);
}

function reconfigure(slots: Slots, random: Random): Step {
  return { kind: "reconfigure", ...changeOne(slots, random) };
}

function pickName(slots: Slots, random: Random): string {
  return random.pick(slots.filter(({ isPresent, isDisabled }) => isPresent && !isDisabled)).name;
}

type Change = (slot: Slot, random: Random) => { readonly what: string; readonly slot: Slot };

const CHANGES: readonly (readonly [weight: number, change: Change])[] = [
  [3, (slot, random) => {
    const profile = drawProfile(slot.name, random);
    return { what: "other arguments", slot: { ...slot, generation: slot.generation + 1, profile } };
  }],
  [2, (slot) => ({ what: "another environment", slot: { ...slot, environment: slot.environment + 1 } })],
  [2, (slot) => ({ what: "disabled", slot: { ...slot, isDisabled: true } })],
  [2, (slot, random) => ({ what: "tool_meta", slot: { ...slot, toolMeta: drawToolMeta(slot, random) } })],
  [1, (slot) => ({
    what: "forbidden_tools",
    slot: { ...slot, forbiddenTools: slot.forbiddenTools.length === 0 ? [`${slot.name}_sleep`] : [] },
  })],
];

function drawToolMeta({ name }: Slot, random: Random): Record<string, unknown> {
  return random.pick<Record<string, unknown>>([
    {},
    {},
    { tags: [`tag-${random.integer(1, 9)}`] },
    { tags: [`tag-${random.integer(10, 99)}`] },
    { auto_apply: false },
    { alias: `${name}_echo_too` },
  ]);
}

type Changed = { readonly what: string; readonly slots: Slots };

/** Adds, removes, changes or moves one server. */
function changeOne(slots: Slots, random: Random): Changed {
  const away = slots.filter(({ isPresent, isDisabled }) => !isPresent || isDisabled);
  // The more servers are removed, the sooner one is added again, so that some always remain.
  if (away.length > 0 && random.chance(away.length / slots.length + 0.1)) {
    return bringBack(slots, random.pick(away));
  }
  const slot = random.pick(slots.filter((one) => !away.includes(one)));
  if (random.chance(0.2)) {
    return { what: `${slot.name}: removed`, slots: replace(slots, { ...slot, isPresent: false }) };
  }
  if (random.chance(0.1)) {
    return { what: `${slot.name}: first`, slots: [slot, ...slots.filter((one) => one !== slot)] };
  }
  // The only parameter of the server over HTTP is its address, which does not change.
  const changes = slot.name === HTTP_SLOT ? CHANGES.slice(2) : CHANGES;
  const changed = random.pickWeighted(changes)(slot, random);
  return { what: `${slot.name}: ${changed.what}`, slots: replace(slots, changed.slot) };
}

function bringBack(slots: Slots, slot: Slot): Changed {
  const what = `${slot.name}: ${slot.isPresent ? "enabled" : "added"}`;
  return { what, slots: replace(slots, { ...slot, isPresent: true, isDisabled: false }) };
}

function replace(slots: Slots, changed: Slot): Slots {
  return slots.map((slot) => slot.name === changed.name ? changed : slot);
}
