/** Returns a rejected URL for an error message, with its password and the values of its query replaced by `[hidden]`. */
export function hideCredentials(text: string): string {
  return text.replace(/^(oci:)?(\w+:)?(\/\/)?.*@/s, "$1$2$3[hidden]@").replace(/([?&][^=#]*=)[^#]*/s, "$1[hidden]");
}
