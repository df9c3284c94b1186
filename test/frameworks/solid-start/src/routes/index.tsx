import { action, useSubmission } from "@solidjs/router";
import { createSignal } from "solid-js";
const greet = action(async (form: FormData) => {
  "use server";
  return `Hello ${form.get("name")}`;
}, "greet");
export default function Home() {
  const [count, setCount] = createSignal(0);
  const submission = useSubmission(greet);
  return (<><h1>Home</h1><button onClick={() => setCount(count() + 1)}>Count {count()}</button>
    <form action={greet} method="post"><input name="name" /><button type="submit">Send</button></form><output>{submission.result}</output></>);
}
