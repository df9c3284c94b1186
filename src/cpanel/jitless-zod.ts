// Must be the first import: otherwise zod tests whether it can create functions from text, which the policy forbids and reports.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
