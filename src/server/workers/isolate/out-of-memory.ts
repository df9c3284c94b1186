/** How V8 says it of an ArrayBuffer or of WebAssembly, as a RangeError. */
const refusedMemory = /^(?:Array buffer allocation failed|WebAssembly\.(?:Memory|Instance).*(?:memory|allocate))/i;
/** Node's code for a Buffer, or a string made of one, that cannot be allocated. */
const refusedBuffer = "ERR_MEMORY_ALLOCATION_FAILED";

/** What is not in the heap is refused memory with one of these; an app that catches them goes on with what it has. */
export function isOutOfMemory(error: unknown): boolean {
  try {
    if (!(error instanceof Error)) return false;
    return ("code" in error && error.code === refusedBuffer) || (error instanceof RangeError && refusedMemory.test(error.message));
  } catch {
    // What an app throws may be a trap.
    return false;
  }
}
