import { Checkbox, type CheckboxProps } from "react-aria-components/Checkbox";
import type { ReactNode } from "react";
import "./field.css";

export interface CheckChoiceProps extends Omit<CheckboxProps, "className" | "style" | "children"> {
  readonly children: ReactNode;
  readonly note?: ReactNode;
}

/** A checkbox with a label and an optional note. */
export function CheckChoice({ children, note, ...props }: CheckChoiceProps) {
  return (
    <Checkbox {...props} className="choice">
      {({ isSelected }) => (
        <>
          <span className="choice-mark" aria-hidden="true">
            {isSelected && "✓"}
          </span>
          <span>{children}</span>
          {note !== undefined && <span className="choice-note">{note}</span>}
        </>
      )}
    </Checkbox>
  );
}
