"use client";
import { useState } from "react";
export default function Home() {
  const [count, setCount] = useState(0);
  return (<><h1>Home</h1><button onClick={() => setCount(count + 1)}>Count {count}</button></>);
}
