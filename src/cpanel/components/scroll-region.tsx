import type { ReactNode, Ref } from "react";

interface ScrollRegionProps {
  /** What is in it, for screen readers. */
  readonly label: string;
  readonly className: string;
  readonly ref?: Ref<HTMLDivElement>;
  readonly onScroll?: () => void;
  readonly children: ReactNode;
}

/** A box that scrolls by itself: it takes the focus, so that the keys for scrolling reach it. */
export function ScrollRegion({ label, ...props }: ScrollRegionProps) {
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
  return <div {...props} role="region" aria-label={label} tabIndex={0} />;
}
