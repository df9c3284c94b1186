import { Input } from "react-aria-components/Input";
import { SearchField as AriaSearchField } from "react-aria-components/SearchField";
import "./field.css";
import "./search-field.css";

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Search field that filters a list while the user types. Escape clears the text. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  return (
    <AriaSearchField aria-label={label} value={value} onChange={onChange} className="search-field">
      <Input className="input" placeholder={label} spellCheck={false} />
    </AriaSearchField>
  );
}
