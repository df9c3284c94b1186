import type { ActionId, Keymap } from "./keymap.js";
import { useLayoutEffect, useRef } from "react";
import { useDashboard, useSession } from "../session/hooks.js";
import { perform, type Action } from "../actions/action.js";

export type Handlers = Readonly<Partial<Record<ActionId, () => void>>>;

/** The keys that a mounted component handles. */
interface KeyScope {
  readonly handlers: Handlers;
  /** Handlers that show why an action is not possible. Not listed in footer and help. */
  readonly refusals?: Handlers;
  /** Equivalent command lines. */
  readonly lines?: readonly string[];
  /** Whether scopes below receive no keys. */
  readonly isModal?: boolean;
  /** Receives every key first. Returns true if the key was handled. */
  readonly takeKey?: ((key: string) => boolean) | undefined;
}

/** Passes each key to the topmost scope that handles it. Footer and help list exactly the handled keys. */
export class KeyDispatcher {
  readonly #keymap: Keymap;
  readonly #layers: { current: KeyScope }[] = [];
  readonly #listeners = new Set<() => void>();
  #valid: readonly ActionId[] = [];

  constructor(keymap: Keymap) {
    this.#keymap = keymap;
  }

  /** Adds a scope on top of the others and returns a function that removes it. `current` can change. */
  add(layer: { current: KeyScope }): () => void {
    this.#layers.push(layer);
    this.changed();
    return () => {
      this.#layers.splice(this.#layers.indexOf(layer), 1);
      this.changed();
    };
  }

  press(key: string): void {
    const layers = this.#reachable();
    if (layers.some(({ takeKey }) => takeKey?.(key))) return;
    const ids = this.#keymap.actionsOf(key);
    const meaning = (tables: readonly (Handlers | undefined)[]) =>
      ids.flatMap((id) => tables.map((table) => table?.[id])).find((handler) => handler !== undefined);
    (meaning(layers.map(({ handlers }) => handlers)) ?? meaning(layers.map(({ refusals }) => refusals)))?.();
  }

  /** Recalculates the available actions after a change of the scopes. */
  changed(): void {
    const offered = this.#reachable().flatMap(({ handlers }) => Object.keys(handlers) as ActionId[]);
    if (offered.length === this.#valid.length && offered.every((id, index) => id === this.#valid[index])) return;
    this.#valid = offered;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The available actions. */
  readonly valid = (): readonly ActionId[] => this.#valid;

  /** The equivalent command lines of the screen and its actions. */
  lines(): readonly string[] {
    return [...new Set(this.#reachable().flatMap(({ lines = [] }) => lines))];
  }

  /** Scopes from top to bottom, or only the topmost modal scope. */
  #reachable(): KeyScope[] {
    const layers = this.#layers.map(({ current }) => current).toReversed();
    const modal = layers.find(({ isModal }) => isModal);
    return modal ? [modal] : layers;
  }
}

/** Registers key handlers while the component is mounted. */
export function useKeyScope(layer: KeyScope): void {
  const { dispatcher } = useDashboard();
  const latest = useRef(layer);
  // Layout effects run before drawing, so the footer changes in the same frame as the screen.
  useLayoutEffect(() => dispatcher.add(latest), [dispatcher]);
  useLayoutEffect(() => {
    latest.current = layer;
    dispatcher.changed();
  });
}

/** Returns a function that runs an action on a target. */
export function usePerforming(): <Target>(action: Action<Target>, target: Target) => void {
  const dashboard = useDashboard();
  const session = useSession();
  return (action, target) => void perform(dashboard, session, { action, target });
}
