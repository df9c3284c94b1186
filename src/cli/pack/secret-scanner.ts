import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

const marker = Buffer.from("rtk_");
const keyPattern = /^rtk_[A-Za-z0-9_-]{43}/;
const keyLength = 47;

/** Looks for API keys in a file that comes in pieces. */
export class SecretScanner {
  readonly #file: string;
  #tail: Buffer = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** Fails when a key stands in this piece, or across its border with the one before. */
  check(piece: Buffer): void {
    const text = this.#tail.length === 0 ? piece : Buffer.concat([this.#tail, piece]);
    for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1))
      if (keyPattern.test(text.toString("latin1", at, at + keyLength))) throw holdsKey(this.#file);
    this.#tail = Buffer.from(text.subarray(Math.max(0, text.length - keyLength + 1)));
  }
}

function holdsKey(file: string): CommandError {
  return new CommandError("SECRET_FOUND", `${file} holds an API key; nothing was uploaded`, {
    exitCode: exitCodes.failed,
    hint: "take the key out and revoke it if others saw it, or leave the file out by .runtimeignore",
  });
}
