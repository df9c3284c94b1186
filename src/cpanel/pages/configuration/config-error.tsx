import { ErrorMessage } from "../../components/error-message.js";
import { describeFault } from "./config-faults.js";
import type { ConfigSave } from "./use-config-change.js";

interface ConfigErrorProps {
  readonly save: ConfigSave;
  /** Fields that show their own error. */
  readonly fields: readonly string[];
}

/** Shows why a change of a configuration was rejected, with the invalid fields that show no error of their own. */
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
