// Uses and frees memory: touch-memory.mjs MEGABYTES. If the host of the virtual machine has reclaimed unused memory, the host returns this
// memory before the next measurement.
const megabytes = Number(process.argv[2]);
const piece = 64;
const kept = [];
for (let taken = 0; taken < megabytes; taken += piece) kept.push(Buffer.alloc(piece * 1024 * 1024, 1));
