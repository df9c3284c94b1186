// Uses and frees memory: touch-memory.mjs MEGABYTES. A host that has taken unused memory from the virtual machine thus returns it before
// the next measurement.
const megabytes = Number(process.argv[2]);
const piece = 64;
const kept = [];
for (let taken = 0; taken < megabytes; taken += piece) kept.push(Buffer.alloc(piece * 1024 * 1024, 1));
