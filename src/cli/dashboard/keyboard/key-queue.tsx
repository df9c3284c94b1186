import { useEffect, useRef, useState } from "react";
import { useDashboard } from "../session/hooks.js";
import type { Keyboard } from "./keyboard.js";

interface Props {
  readonly keyboard: Keyboard;
  /** Whether all keys except ctrl-c and ctrl-z are ignored, because the terminal is too small to show the screen. */
  readonly isBlocked: boolean;
  readonly onSuspend: () => void;
}

/**
 * Dispatches a key press after React has rendered the effect of the previous one. If the user types `/shop` quickly, `/` thus opens the
 * filter first. Must be the last component, so that its effect runs last.
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
  // Dispatches the next key after the effect has ended. React treats repeated updates inside effects as a loop, and warns after 50 keys in
  // a row.
  useEffect(() => {
    const next = setImmediate(pressNext);
    return () => clearImmediate(next);
  }, [drawn, dispatcher]);
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
