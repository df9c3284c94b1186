export default { fetch: async (request) => new Response(await request.arrayBuffer()) };
