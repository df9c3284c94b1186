/** V8's last words. */
const heapIsFull = /^(?:#\s*)?fatal (?:error:|process|javascript).*out of memory/i;

/** How an isolate's process ends, as clients and the operator are told: the first reason that is known counts, the system's words otherwise. */
export class ExitReason {
  readonly #beyondMemory: string;
  #reason: string | undefined;
  #hasCrashed = false;

  constructor(memoryBytes: number) {
    this.#beyondMemory = `was ended because it reached its memory limit of ${Math.floor(memoryBytes / 1024 / 1024)} MB`;
  }

  /** It ended without having been asked to, or by our force. */
  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  get isKnown(): boolean {
    return this.#reason !== undefined;
  }

  get isBeyondMemory(): boolean {
    return this.#reason === this.#beyondMemory;
  }

  asked(): void {
    this.#reason = "was asked to end";
  }

  forced(because: string): void {
    this.#reason = `was stopped because ${because}`;
    this.#hasCrashed = true;
  }

  beyondMemory(): void {
    this.#reason = this.#beyondMemory;
    this.#hasCrashed = true;
  }

  crashed(): void {
    this.#hasCrashed = true;
  }

  /** What it wrote as an error may tell why it will end. */
  noteError(text: string): void {
    if (heapIsFull.test(text)) this.#reason ??= this.#beyondMemory;
  }

  /** `how` is what the system says of it. */
  tell(how: string): string {
    return this.#reason ?? how;
  }
}
