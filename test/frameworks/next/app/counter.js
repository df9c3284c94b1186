"use client";
import { useActionState, useState } from "react";
export function Counter({ greet }) {
  const [count, setCount] = useState(0);
  const [greeting, action] = useActionState(greet, "");
  return (<><button onClick={() => setCount(count + 1)}>Count {count}</button>
    <form action={action}><input name="name" /><button type="submit">Send</button></form><output>{greeting}</output></>);
}
