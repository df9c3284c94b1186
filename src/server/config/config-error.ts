/** The value of a variable is invalid. The message is one line for the operator. */
export class ConfigError extends Error {
  /** `value` is undefined for a secret. */
  constructor(variable: string, value: string | undefined, takes: string) {
    super(`${variable}${value === undefined ? "" : `=${JSON.stringify(value)}`} is not accepted: it takes ${takes}.`);
    this.name = "ConfigError";
  }
}
