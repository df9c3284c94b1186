import { useEffect, useRef, useState } from "react";
import { useDashboard } from "../session/hooks.js";
import type { Keyboard } from "./keyboard.js";

interface Props {
  readonly keyboard: Keyboard;
  /** Keys do nothing, but for the way out: nothing can be seen of what they would mean. */
  readonly isBlocked: boolean;
  readonly onSuspend: () => void;
}

/**
 * Hands keys on, each after what the one before it changed is drawn: of `/shop` in one piece, `shop` belongs to the filter. Stands last
 * in the tree, so that its effect runs when the others' have.
 */
export function KeyQueue({ keyboard, isBlocked, onSuspend }: Props) {
  const { dispatcher, quit } = useDashboard();
  const waiting = useRef<string[]>([]);
  const isBusy = useRef(false);
  const [drawn, setDrawn] = useState(0);
  const pressNext = () => {
    const key = waiting.current.shift();
    isBusy.current = key !== undefined;
    if (key === undefined) return;
    dispatcher.press(key);
    setDrawn((count) => count + 1);
  };
  useEffect(pressNext, [drawn, dispatcher]);
  const take = (key: string) => {
    if (key === "ctrl-c") return quit();
    if (key === "ctrl-z") return onSuspend();
    if (isBlocked) return;
    waiting.current.push(key);
    if (!isBusy.current) pressNext();
  };
  useEffect(() => keyboard.subscribe(take));
  return null;
}
