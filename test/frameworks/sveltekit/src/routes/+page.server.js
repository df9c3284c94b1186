export const actions = { default: async ({ request }) => ({ greeting: `Hello ${(await request.formData()).get("name")}` }) };
