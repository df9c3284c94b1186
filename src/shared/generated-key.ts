/** Matches a key that the daemon generated, anywhere in a text: `rtk_` and 43 base64url characters. */
export const generatedKey = /rtk_[\w-]{43}/;
