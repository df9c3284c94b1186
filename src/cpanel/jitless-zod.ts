// The first import: else zod tries, when its first schema is made, whether it may make functions from text. The policy forbids that, and
// reports it.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
