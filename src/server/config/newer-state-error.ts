/** Stored data has a newer schema than this version supports. Nothing was changed. The message is one line for the operator. */
export class NewerStateError extends Error {
  /** Kind and path of the data, as the beginning of a sentence. */
  readonly subject: string;
  readonly found: number;
  readonly supported: number;

  /** `remedy` completes the sentence "upgrade runtimed, or …". */
  constructor({ subject, found, supported, remedy }: { subject: string; found: number; supported: number; remedy: string }) {
    super(`${subject} has schema ${found}, and this runtimed supports schemas up to ${supported}: upgrade runtimed, or ${remedy}.`);
    this.name = "NewerStateError";
    this.subject = subject;
    this.found = found;
    this.supported = supported;
  }
}
