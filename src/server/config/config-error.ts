/** A variable has a value that is not accepted; the message is one line for the operator. */
export class ConfigError extends Error {
  /** `value` is left out where it is a secret. */
  constructor(variable: string, value: string | undefined, takes: string) {
    super(`${variable}${value === undefined ? "" : `=${JSON.stringify(value)}`} is not accepted: it takes ${takes}.`);
    this.name = "ConfigError";
  }
}
