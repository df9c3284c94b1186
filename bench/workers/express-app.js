import express from "express";

const app = express();
app.get("/", (request, response) => response.send("Welcome"));
app.get("/search", (request, response) => response.json({ query: request.query.q, found: [1, 2, 3] }));
app.get("/users/:id", (request, response) => response.json({ id: request.params.id, name: "Ada" }));

const server = app.listen(process.env.PORT, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
