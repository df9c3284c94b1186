import { FieldError } from "react-aria-components/FieldError";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { Text } from "react-aria-components/Text";
import { TextField, type TextFieldProps } from "react-aria-components/TextField";
import type { ReactNode } from "react";
import "./field.css";

export interface TextInputProps extends Omit<TextFieldProps, "className" | "style" | "children"> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** Element beside the input, such as the button that makes a hidden secret visible. */
  readonly extra?: ReactNode;
}

/** A text field with its label, hint and error. */
export function TextInput({ label, hint, error, placeholder, extra, ...props }: TextInputProps) {
  return (
    <TextField {...props} isInvalid={error !== undefined} className="field" validationBehavior="aria">
      <Label>{label}</Label>
      <div className="field-line">
        <Input {...(placeholder === undefined ? {} : { placeholder })} className="input" spellCheck={false} />
        {extra}
      </div>
      {hint !== undefined && error === undefined && (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  );
}
