import { escapedForPointer } from "./problem.ts";

interface Place {
  value: unknown;
  name: string;
  inside: Place | undefined;
}

function pointerTo(place: Place): string {
  const names: string[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.inside) names.unshift(at.name);
  return `/${names.map(escapedForPointer).join("/")}`;
}

/** PostgreSQL's text takes every character but this one. A loop, because a hostile body nests deeper than the stack. */
export function findNul(body: unknown, name: string): string | undefined {
  const left: Place[] = [{ value: body, name, inside: undefined }];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const { value } = place;
    if (typeof value === "string" && value.includes("\0")) return pointerTo(place);
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
    for (const [key, each] of Object.entries(value)) {
      if (key.includes("\0")) return pointerTo(place);
      left.push({ value: each, name: key, inside: place });
    }
  }
  return undefined;
}
