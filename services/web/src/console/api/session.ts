import { toApiError } from "@ehr-marketplace/client/errors";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { noteSignedIn } from "../../islands/signed-in.ts";
import type { SessionDto } from "../../sessions/session-dto.ts";
import { headers } from "./apis.ts";
import { rememberPerson } from "./session-person.ts";

export type Session = SessionDto | { signedIn: false };
export type Practice = SessionDto["practices"][number];

export async function getSession(): Promise<Session> {
  const response = await fetch("/bff/session", { headers });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw toApiError(response, body);
  return body as Session;
}

/** Read once. That it has ended is noticed by the next request, which waits for a sign-in: nothing that was entered is lost. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async () => {
    const session = await getSession();
    noteSignedIn(session.signedIn);
    if (session.signedIn) rememberPerson(session.person);
    return session;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** The session of who is signed in. Only below the console's root, which shows its children to nobody else. */
export function useSession(): SessionDto {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data.signedIn) throw new Error("Nobody is signed in.");
  return data;
}

/** Whether both are sessions of the same person: what one has entered isn't sent in the name of another. */
export const isSamePerson = (one: Session, other: Session): boolean =>
  one.signedIn &&
  other.signedIn &&
  one.person === other.person &&
  JSON.stringify(one.practices) === JSON.stringify(other.practices);

export const signInPath = (returnTo: string): string => `/login?returnTo=${encodeURIComponent(returnTo)}`;
