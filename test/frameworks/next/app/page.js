import { Counter } from "./counter.js";
import { greet } from "./actions.js";
export const dynamic = "force-dynamic";
export default function Home() { return (<><h1>Home</h1><Counter greet={greet} /></>); }
