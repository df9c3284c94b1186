// Uses so much memory, and gives it back: touch-memory.mjs MEGABYTES. A host that takes back what its virtual machines leave unused has
// given it again then, and what is measured next need not wait for that.
const megabytes = Number(process.argv[2]);
const piece = 64;
const kept = [];
for (let taken = 0; taken < megabytes; taken += piece) kept.push(Buffer.alloc(piece * 1024 * 1024, 1));
