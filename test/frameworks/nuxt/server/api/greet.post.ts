export default defineEventHandler(async (event) => ({ greeting: `Hello ${(await readBody(event)).name}` }));
