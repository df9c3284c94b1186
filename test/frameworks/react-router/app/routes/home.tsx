import { useState } from "react";
import { Form, useActionData } from "react-router";
export async function action({ request }: { request: Request }) {
  return { greeting: `Hello ${(await request.formData()).get("name")}` };
}
export default function Home() {
  const [count, setCount] = useState(0);
  const data = useActionData<typeof action>();
  return (<><h1>Home</h1><button onClick={() => setCount(count + 1)}>Count {count}</button>
    <Form method="post"><input name="name" /><button type="submit">Send</button></Form><output>{data?.greeting}</output></>);
}
