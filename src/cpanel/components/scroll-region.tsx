import type { ReactNode, Ref } from "react";

interface ScrollRegionProps {
  /** Description of the content, for screen readers. */
  readonly label: string;
  readonly className: string;
  readonly ref?: Ref<HTMLDivElement>;
  readonly onScroll?: () => void;
  readonly children: ReactNode;
}

/** A scrollable box that can have the focus, so that keyboard users can scroll it. */
export function ScrollRegion({ label, ...props }: ScrollRegionProps) {
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keyboard users must be able to focus a scrollable box
  return <div {...props} role="region" aria-label={label} tabIndex={0} />;
}
