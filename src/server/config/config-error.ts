/** Thrown for an invalid environment variable. The message is one line for the operator. */
export class ConfigError extends Error {
  /** `value` is the invalid value, or undefined if the value is a secret. `takes` describes the accepted values. */
  constructor(variable: string, value: string | undefined, takes: string) {
    super(`${variable}${value === undefined ? "" : `=${JSON.stringify(value)}`} is not accepted: it takes ${takes}.`);
    this.name = "ConfigError";
  }
}
