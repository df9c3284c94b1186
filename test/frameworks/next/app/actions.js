"use server";
export async function greet(_previous, form) { return `Hello ${form.get("name")}`; }
