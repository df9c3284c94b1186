// Else zod tries, when its first schema is made, whether it may make functions from text: the policy forbids that, and reports it.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
// After that, and so not among the imports.
void import("./start.js").then(({ start }) => start());
