/** How V8 says it of a buffer or of WebAssembly, as a RangeError. */
const refusedMemory = /^(?:Array buffer allocation failed|WebAssembly\.(?:Memory|Instance).*(?:memory|allocate))/i;
/** How Node says it of a text that is made of bytes, as a plain Error. */
const refusedText = "ERR_MEMORY_ALLOCATION_FAILED";

/** What is not in the heap is refused memory with one of these; an app that catches them goes on with what it has. */
export function isOutOfMemory(error: unknown): boolean {
  try {
    if (!(error instanceof Error)) return false;
    return error instanceof RangeError ? refusedMemory.test(error.message) : "code" in error && error.code === refusedText;
  } catch {
    // What an app throws may be a trap.
    return false;
  }
}
