import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";

/** Distance from the end that still counts as the end: zoomed pages have fractions of pixels. */
const endPixels = 24;

/**
 * Keeps the end of a growing box visible until the user scrolls up, and again at the end. `isHeld` stops that. Returns the handler of the
 * box's scroll events.
 */
export function useFollowEnd(box: RefObject<HTMLElement | null>, { content, isHeld }: { content: unknown; isHeld: boolean }): () => void {
  const isAtEnd = useRef(true);
  const seen = useRef({ top: 0, height: 0 });
  const follow = useCallback(() => {
    const { current } = box;
    if (!current || !isAtEnd.current || isHeld) return;
    current.scrollTop = current.scrollHeight;
    seen.current = { top: current.scrollTop, height: current.scrollHeight };
  }, [box, isHeld]);
  useLayoutEffect(follow, [follow, content]);
  useLayoutEffect(() => {
    const { current } = box;
    if (!current?.firstElementChild) return undefined;
    // Lines get their height when they become visible, after the box was scrolled to its former end.
    const observer = new ResizeObserver(follow);
    observer.observe(current);
    observer.observe(current.firstElementChild);
    return () => observer.disconnect();
  }, [box, follow]);
  return () => {
    const { scrollTop: top, scrollHeight: height, clientHeight } = box.current as HTMLElement;
    // The browser moves a box up only when its content changes; the user moves it while the content is the same.
    const hasUserScrolledUp = top < seen.current.top && height === seen.current.height;
    if (height - top - clientHeight < endPixels) isAtEnd.current = true;
    else if (hasUserScrolledUp) isAtEnd.current = false;
    seen.current = { top, height };
  };
}
