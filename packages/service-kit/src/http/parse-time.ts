import { invalidRequest } from "./invalid-request.ts";

/** Parses a time of a request. The schema accepts leap seconds, which JavaScript can't parse. */
export function parseTime(pointer: string, text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidRequest(pointer, "is not a valid time");
  return time;
}

export const parseQueryTime = (name: string, text: string | undefined): Date | undefined =>
  text === undefined ? undefined : parseTime(`/query/${name}`, text);
