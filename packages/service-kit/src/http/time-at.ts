import { invalidRequest } from "./invalid-request.ts";

/** A time in a request. A leap second is one to the schema, and none to JavaScript. */
export function timeAt(pointer: string, text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidRequest(pointer, "is not a time");
  return time;
}

export const timeInQuery = (name: string, text: string | undefined): Date | undefined =>
  text === undefined ? undefined : timeAt(`/query/${name}`, text);
