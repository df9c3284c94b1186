import { createFileRoute } from "@tanstack/react-router";
import { createServerFn } from "@tanstack/react-start";
import { useState, type FormEvent } from "react";
const greet = createServerFn({ method: "POST" })
  .validator((form: FormData) => form)
  .handler(async ({ data }) => `Hello ${data.get("name")}`);
export const Route = createFileRoute("/")({ component: Home });
function Home() {
  const [count, setCount] = useState(0);
  const [greeting, setGreeting] = useState("");
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setGreeting(await greet({ data: new FormData(event.currentTarget) }));
  };
  return (<><h1>Home</h1><button onClick={() => setCount(count + 1)}>Count {count}</button>
    <form onSubmit={send}><input name="name" /><button type="submit">Send</button></form><output>{greeting}</output></>);
}
