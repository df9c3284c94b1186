import { FieldError } from "react-aria-components/FieldError";
import { Label } from "react-aria-components/Label";
import { Text } from "react-aria-components/Text";
import { TextArea as AriaTextArea } from "react-aria-components/TextArea";
import { TextField, type TextFieldProps } from "react-aria-components/TextField";
import type { ReactNode } from "react";
import "./field.css";
import "./text-area.css";

export interface TextAreaProps extends Omit<TextFieldProps, "className" | "style" | "children"> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Number of visible lines. */
  readonly rows: number;
}

/** A field for text of several lines, such as YAML, with its label, hint and error. */
export function TextArea({ label, hint, error, rows, ...props }: TextAreaProps) {
  return (
    <TextField {...props} isInvalid={error !== undefined} className="field" validationBehavior="aria">
      <Label>{label}</Label>
      <AriaTextArea className="input text-area" rows={rows} spellCheck={false} autoComplete="off" wrap="off" />
      {hint !== undefined && error === undefined && (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  );
}
