import { SelectField } from "../components/select-field.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import { themeChoices } from "./theme.js";

const labels = { system: "System", light: "Light", dark: "Dark" };

export function ThemeSwitch() {
  const { theme } = usePanel();
  const choice = useObserved(theme.choice);
  const choices = themeChoices.map((value) => ({ value, label: labels[value] }));
  return (
    <SelectField
      label="Theme"
      value={choice}
      choices={choices}
      onChange={(value) => theme.choose(themeChoices.find((known) => known === value) ?? "system")}
    />
  );
}
