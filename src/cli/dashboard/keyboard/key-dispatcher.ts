import type { ActionId, Keymap } from "./keymap.js";
import { useLayoutEffect, useRef } from "react";
import { useDashboard, useSession } from "../session/hooks.js";
import { perform, type Action } from "../actions/action.js";

export type Handlers = Readonly<Partial<Record<ActionId, () => void>>>;

/** What a part of the screen makes of keys while it is there. */
interface KeyScope {
  readonly handlers: Handlers;
  /** Say why a key does nothing here. Not offered in footer and help. */
  readonly refusals?: Handlers;
  /** Command lines that show or do the same. */
  readonly lines?: readonly string[];
  /** Keys mean nothing to what lies below. */
  readonly isModal?: boolean;
  /** Sees every key first; true when it has used it up. */
  readonly takeKey?: ((key: string) => boolean) | undefined;
}

/** Leads each key to the part of the screen that it means. What is offered in footer and help is what would be done. */
export class KeyDispatcher {
  readonly #keymap: Keymap;
  readonly #layers: { current: KeyScope }[] = [];
  readonly #listeners = new Set<() => void>();
  #valid: readonly ActionId[] = [];

  constructor(keymap: Keymap) {
    this.#keymap = keymap;
  }

  /** Adds a layer on top of the others; `current` may be exchanged while it is there. */
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

  /** Says that the layers, or what one of them offers, may have changed. */
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

  /** The actions that a key would do now. */
  readonly valid = (): readonly ActionId[] => this.#valid;

  /** The command lines that show or do what the screen and its keys do. */
  lines(): readonly string[] {
    return [...new Set(this.#reachable().flatMap(({ lines = [] }) => lines))];
  }

  /** From the top; nothing below a modal layer. */
  #reachable(): KeyScope[] {
    const layers = this.#layers.map(({ current }) => current).toReversed();
    const modal = layers.find(({ isModal }) => isModal);
    return modal ? [modal] : layers;
  }
}

/** Gives keys a meaning while the component is there. */
export function useKeyScope(layer: KeyScope): void {
  const { dispatcher } = useDashboard();
  const latest = useRef(layer);
  // Before anything is drawn, so that the footer changes with what it describes.
  useLayoutEffect(() => dispatcher.add(latest), [dispatcher]);
  useLayoutEffect(() => {
    latest.current = layer;
    dispatcher.changed();
  });
}

/** Does an action to what was typed for it. */
export function usePerforming(): <Target>(action: Action<Target>, target: Target) => void {
  const dashboard = useDashboard();
  const session = useSession();
  return (action, target) => void perform(dashboard, session, { action, target });
}
