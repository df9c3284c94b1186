import { useLayoutEffect, type RefObject } from "react";

/**
 * Sets the custom property `--fill-top` of an element to the distance between the element and the top of the page. Style sheets use it to
 * let the element fill the window.
 */
export function useFillHeight(element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const update = () => {
      const top = Math.round(current.getBoundingClientRect().top + scrollY);
      current.style.setProperty("--fill-top", `${top}px`);
    };
    update();
    const observer = new ResizeObserver(update);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
}
