import { invalidRequest } from "@ehr-marketplace/service-kit/http";

/** A time that a request gives. A leap second is one to the schema, and none to JavaScript. */
export function timeAt(pointer: string, text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidRequest(pointer, "is not a time");
  return time;
}
