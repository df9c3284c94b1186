import { Hono } from "hono";

const app = new Hono();
app.get("/", (context) => context.text("Welcome"));
app.get("/search", (context) => context.json({ query: context.req.query("q"), found: [1, 2, 3] }));
app.get("/users/:id", (context) => context.json({ id: context.req.param("id"), name: "Ada" }));

export default app;
