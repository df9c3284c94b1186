/** One row of the configuration reference: what a variable is called, what it is when unset, what it means. */
export interface VariableDescription {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
}
