import fastify from "fastify";

const app = fastify();
app.get("/", async () => "Welcome");
app.get("/search", async (request) => ({ query: request.query.q, found: [1, 2, 3] }));
app.get("/users/:id", async (request) => ({ id: request.params.id, name: "Ada" }));

app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" }, () => console.log(`listening ${app.server.address().port}`));
