import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";

/** Distance in pixels from the end of a box that still counts as the end. In zoomed pages, scroll positions have fractions of pixels. */
const endPixels = 24;

/**
 * Scrolls a growing box to its end after each change. Pauses when the user scrolls up, until the user scrolls to the end again. `isHeld`
 * disables the scrolling. Returns the handler of scroll events.
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
    // Lines have their final height only when they are visible. The end of the box can thus move after the box was scrolled.
    const observer = new ResizeObserver(follow);
    observer.observe(current);
    observer.observe(current.firstElementChild);
    return () => observer.disconnect();
  }, [box, follow]);
  return () => {
    const { scrollTop: top, scrollHeight: height, clientHeight } = box.current as HTMLElement;
    // If the content has the same height as before, the user has scrolled up. The browser itself scrolls up only when the content changes.
    const hasUserScrolledUp = top < seen.current.top && height === seen.current.height;
    if (height - top - clientHeight < endPixels) isAtEnd.current = true;
    else if (hasUserScrolledUp) isAtEnd.current = false;
    seen.current = { top, height };
  };
}
