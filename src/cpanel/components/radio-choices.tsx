import { Label } from "react-aria-components/Label";
import { Radio, RadioGroup, type RadioGroupProps } from "react-aria-components/RadioGroup";
import type { ReactNode } from "react";
import "./field.css";

export interface RadioChoice {
  readonly value: string;
  readonly label: ReactNode;
  readonly note?: ReactNode;
  readonly isDisabled?: boolean;
}

export interface RadioChoicesProps extends Omit<RadioGroupProps, "className" | "style" | "children"> {
  readonly label: string;
  readonly choices: readonly RadioChoice[];
}

/** A group of radio buttons with a label. Each option can have a note. */
export function RadioChoices({ label, choices, ...props }: RadioChoicesProps) {
  return (
    <RadioGroup {...props} className="field">
      <Label className="field-label">{label}</Label>
      <div className="choices">
        {choices.map((choice) => (
          <Radio key={choice.value} value={choice.value} isDisabled={choice.isDisabled ?? false} className="choice choice-round">
            <span className="choice-mark" aria-hidden="true" />
            <span>{choice.label}</span>
            {choice.note !== undefined && <span className="choice-note">{choice.note}</span>}
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}
