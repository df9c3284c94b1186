import { useState } from "react";
import { endText } from "../../components/absolute-time.js";
import { RadioChoices } from "../../components/radio-choices.js";
import { TextInput } from "../../components/text-input.js";
import { endOf, otherLifetime } from "./key-form-state.js";

const lifetimes = [
  { value: "30d", label: "30 days" },
  { value: "90d", label: "90 days" },
  { value: "1y", label: "1 year" },
];

interface LifetimeChoiceProps {
  readonly value: string;
  readonly onChange: (expiresIn: string) => void;
  readonly problem: string | undefined;
}

/** Form field for the lifetime of a new key. Each choice shows the date of the expiry. */
export function LifetimeChoice({ value, onChange, problem }: LifetimeChoiceProps) {
  const [isOther, setOther] = useState(() => value !== "never" && !lifetimes.some((lifetime) => lifetime.value === value));
  const choices = [
    ...lifetimes.map(({ value: lifetime, label }) => ({ value: lifetime, label, note: dateNote(lifetime) })),
    { value: "never", label: "Never", note: "Until it is revoked." },
    { value: otherLifetime, label: "Another time" },
  ];
  const choose = (choice: string) => {
    setOther(choice === otherLifetime);
    onChange(choice === otherLifetime ? "45d" : choice);
  };
  return (
    <>
      <RadioChoices label="Expires after" choices={choices} value={isOther ? otherLifetime : value} onChange={choose} />
      {isOther && (
        <TextInput
          label="Lifetime"
          hint={dateNote(value) ?? "Such as 12h, 45d, 2w, 6m, 2y."}
          value={value}
          onChange={onChange}
          error={problem}
          autoComplete="off"
        />
      )}
    </>
  );
}

function dateNote(lifetime: string): string | undefined {
  const nowSeconds = Date.now() / 1000;
  const end = endOf({ expiresIn: lifetime }, nowSeconds);
  return typeof end === "number" ? `On ${endText(end, nowSeconds)}.` : undefined;
}
