// This module must be imported first. Otherwise zod tests whether it can compile code with `new Function`, which the content security
// policy forbids and reports.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
