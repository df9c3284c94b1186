import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { usePanel } from "../use-panel.js";

interface PanelLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  /** Path of the linked page, relative to the panel: `keys`, `apps/shop`. */
  readonly to: string;
}

/** Link to a page of the panel. A plain click does not reload the panel. With a modifier key, the browser handles the click. */
export function PanelLink({ to, onClick, ...props }: PanelLinkProps) {
  const { router } = usePanel();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    router.go(to);
  };
  return <a {...props} href={router.href(to)} onClick={follow} />;
}
