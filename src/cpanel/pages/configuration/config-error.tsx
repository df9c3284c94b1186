import { ErrorMessage } from "../../components/error-message.js";
import { describeFault } from "./config-faults.js";
import type { ConfigSave } from "./use-config-change.js";

interface ConfigErrorProps {
  readonly save: ConfigSave;
  /** Names of the fields that show their error themselves. */
  readonly fields: readonly string[];
}

/** Shows why the daemon rejected a change of a configuration. Lists only the invalid fields that do not show their error themselves. */
export function ConfigError({ save: { error, faults }, fields }: ConfigErrorProps) {
  if (error === undefined) return null;
  const others = faults.filter(({ name }) => !fields.includes(name));
  return (
    <ErrorMessage title="The change was not saved" error={error}>
      {others.length > 1 && (
        <ul className="config-faults">
          {others.map((fault) => (
            <li key={describeFault(fault)}>{describeFault(fault)}</li>
          ))}
        </ul>
      )}
    </ErrorMessage>
  );
}
