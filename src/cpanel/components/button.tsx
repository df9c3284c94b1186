import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components/Button";
import "./button.css";

export interface ButtonProps extends Omit<AriaButtonProps, "className" | "style"> {
  /** Appearance: `primary` for the main action, `danger` for a deletion, `bare` within text or rows. Default: `plain`. */
  readonly kind?: "plain" | "primary" | "danger" | "bare";
}

/**
 * A button that keeps the focus and ignores presses while `isPending` is true. Does not use React Aria's own `isPending`, which leaves an
 * unnamed element in the page after the button is unmounted.
 */
export function Button({ kind = "plain", isPending = false, onPress, ...props }: ButtonProps) {
  return (
    <AriaButton
      {...props}
      {...(isPending ? { "aria-disabled": true } : onPress ? { onPress } : {})}
      className={`button button-${kind}${isPending ? " button-pending" : ""}`}
    />
  );
}
