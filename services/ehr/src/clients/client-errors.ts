import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

const clientProblems = {
  notFound: {
    code: "client-not-found",
    status: 404,
    title: "The client is unknown",
    advice: "`GET /api/admin/clients` lists the clients.",
  },
  busy: {
    code: "client-busy",
    status: 409,
    title: "A request for the client is in progress",
    advice: "Try again in a minute.",
  },
  managed: {
    code: "client-managed",
    status: 409,
    title: "This service manages the client",
    advice:
      "It updates the client when the app changes, and removes it when no organisation has the app any more. If the authorization server no longer has the client, or another one is configured now, `POST /api/admin/clients/{id}/retry` finds that out: then the client is `uncertain`, and `PUT` and `DELETE` are possible.",
  },
  idTaken: {
    code: "client-id-taken",
    status: 409,
    title: "Another client has this client_id",
    advice: "Register a client of its own for each app, and send its client_id.",
  },
} satisfies Record<string, ProblemKind>;

export const clientNotFound = (): Problem => new Problem(clientProblems.notFound, "No client with that id exists.");

export const clientBusy = (): Problem =>
  new Problem(
    clientProblems.busy,
    "A request to the authorization server for this client is in progress. Try again in a minute.",
  );

export const clientManaged = (detail: string): Problem => new Problem(clientProblems.managed, detail);

export const clientIdTaken = (): Problem =>
  new Problem(clientProblems.idTaken, "Another app, or another organisation, has a client with this client_id.");
