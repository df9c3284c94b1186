import { iconPaths } from "./icon-paths.js";

export type IconName = keyof typeof iconPaths;

/** An icon of 16 px, or of `size` px, in the color of the text. Screen readers skip the icon, so a control with only an icon needs a label. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="icon"
    >
      <path d={iconPaths[name]} />
    </svg>
  );
}
