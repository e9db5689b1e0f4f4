/* global FHIR */
import { settings, showFailure } from "./show.js";

const given = new URLSearchParams(location.search);
const [iss, launch] = [given.get("iss"), given.get("launch")];
// The library also takes a client, a server and a patient from the address. Ours is told by the EHR, and by nobody else.
const told = new URLSearchParams({ ...(iss && { iss }), ...(launch && { launch }) });
history.replaceState(null, "", told.size === 0 ? location.pathname : `${location.pathname}?${told}`);

const [tries, pauseMs] = [20, 1_000];

/** Each practice's authorization server has given the app a name of its own. Just after installing, it takes a moment. */
async function findClient() {
  for (let left = tries; ; left -= 1) {
    const response = await fetch(`/client?${new URLSearchParams({ iss })}`);
    const client = await response.json();
    if (client.status !== "pending" || left === 0) return client;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function open() {
  const { clientId, reason } = await findClient();
  if (clientId === null) {
    showFailure("not_connected", reason ? `The reason given: ${reason}` : undefined);
    return;
  }
  await FHIR.oauth2.authorize({
    clientId,
    scope: settings.scope,
    redirectUri: "/",
    pkceMode: "required",
    completeInTarget: true,
  });
}

if (!iss || !launch) {
  showFailure("not_launched");
} else if (!iss.startsWith(settings.fhirServers)) {
  showFailure("unknown_server");
} else {
  open().catch(() => showFailure("temporarily_unavailable"));
}
