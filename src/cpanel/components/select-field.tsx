import { useId } from "react";
import "./field.css";
import "./select-field.css";

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

/** A drop-down list with a label. Uses the browser's own `<select>`, which is familiar on every device. */
export function SelectField({ label, value, onChange, choices }: SelectFieldProps) {
  const id = useId();
  return (
    <div className="select-field">
      <label htmlFor={id} className="quiet">
        {label}
      </label>
      <select id={id} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  );
}
