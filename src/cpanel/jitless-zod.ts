// The panel must import this module before zod. Otherwise zod tests whether `new Function` can compile code. The content security policy
// forbids this test, and the browser reports it.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
