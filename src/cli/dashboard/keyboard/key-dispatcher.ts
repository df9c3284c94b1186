import type { ActionId, Keymap } from "./keymap.js";
import { useLayoutEffect, useRef } from "react";
import { useDashboard, useSession } from "../session/hooks.js";
import { perform, type Action } from "../actions/action.js";

export type Handlers = Readonly<Partial<Record<ActionId, () => void>>>;

/** The key presses that a component handles while the component is mounted. */
interface KeyScope {
  readonly handlers: Handlers;
  /** Handlers for shortcuts of actions that are not possible; each shows the reason. Footer and help do not list these shortcuts. */
  readonly refusals?: Handlers;
  /** The command lines that are equivalent to the current screen and its actions. */
  readonly lines?: readonly string[];
  /** Whether only this key scope receives key presses. If several key scopes are modal, only the topmost of them receives key presses. */
  readonly isModal?: boolean;
  /** Callback for every key press, called before the handlers. Returns true if the callback handled the key press. */
  readonly takeKey?: ((key: string) => boolean) | undefined;
}

/** Passes each key press to the topmost key scope with a handler for the key. Footer and help list exactly the keys with a handler. */
export class KeyDispatcher {
  readonly #keymap: Keymap;
  readonly #layers: { current: KeyScope }[] = [];
  readonly #listeners = new Set<() => void>();
  #valid: readonly ActionId[] = [];

  constructor(keymap: Keymap) {
    this.#keymap = keymap;
  }

  /**
   * Adds a key scope above the existing key scopes. Returns a function that removes this key scope. The caller can later assign other
   * handlers to `current`.
   */
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

  /** Updates the list of actions that have a handler. Called after a change in the key scopes. */
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

  /** Returns the actions for which a key scope has a handler now. */
  readonly valid = (): readonly ActionId[] => this.#valid;

  /** Returns the command lines that are equivalent to the current screen and its actions. */
  lines(): readonly string[] {
    return [...new Set(this.#reachable().flatMap(({ lines = [] }) => lines))];
  }

  /** Returns the key scopes from top to bottom. If one of them is modal, returns only the topmost modal key scope. */
  #reachable(): KeyScope[] {
    const layers = this.#layers.map(({ current }) => current).toReversed();
    const modal = layers.find(({ isModal }) => isModal);
    return modal ? [modal] : layers;
  }
}

/** Registers handlers of key presses while the component is mounted. */
export function useKeyScope(layer: KeyScope): void {
  const { dispatcher } = useDashboard();
  const latest = useRef(layer);
  // React runs layout effects before drawing, so the footer changes in the same frame as the screen.
  useLayoutEffect(() => dispatcher.add(latest), [dispatcher]);
  useLayoutEffect(() => {
    latest.current = layer;
    dispatcher.changed();
  });
}

/** Returns a function that runs an action of the dashboard on a target. */
export function usePerforming(): <Target>(action: Action<Target>, target: Target) => void {
  const dashboard = useDashboard();
  const session = useSession();
  return (action, target) => void perform(dashboard, session, { action, target });
}
