/**
 * Thrown when stored data has a newer schema than this version supports. The data is unchanged. The message is one line for the operator.
 */
export class NewerStateError extends Error {
  /** Kind and path of the data, used as the beginning of the message. */
  readonly subject: string;
  readonly found: number;
  readonly supported: number;

  /** `remedy` is the second of two proposals in the message. The message ends with "upgrade runtimed, or" and this text. */
  constructor({ subject, found, supported, remedy }: { subject: string; found: number; supported: number; remedy: string }) {
    super(`${subject} has schema ${found}, and this runtimed supports schemas up to ${supported}: upgrade runtimed, or ${remedy}.`);
    this.name = "NewerStateError";
    this.subject = subject;
    this.found = found;
    this.supported = supported;
  }
}
