import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components/Button";
import "./button.css";

export interface ButtonProps extends Omit<AriaButtonProps, "className" | "style"> {
  /** `plain` unless it is the one thing to do here, destroys something, or stands among text. */
  readonly kind?: "plain" | "primary" | "danger" | "bare";
}

/**
 * A button; while `isPending` it keeps the focus and does nothing. React Aria's own way of that announces by an element that outlives the
 * button, and has no name then.
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
