/* global FHIR */
import { settings, showFailure } from "./show.js";

const given = new URLSearchParams(location.search);
const [iss, launch] = [given.get("iss"), given.get("launch")];
// The library also takes a client, a server and a patient from the address. Ours is told by the EHR, and by nobody else.
const told = new URLSearchParams({ ...(iss && { iss }), ...(launch && { launch }) });
history.replaceState(null, "", told.size === 0 ? location.pathname : `${location.pathname}?${told}`);

if (!iss || !launch) {
  showFailure("not_launched");
} else if (!iss.startsWith(settings.fhirServers)) {
  showFailure("unknown_server");
} else {
  FHIR.oauth2
    .authorize({
      clientId: settings.clientId,
      scope: settings.scope,
      redirectUri: "/",
      pkceMode: "required",
      completeInTarget: true,
    })
    .catch(() => showFailure("temporarily_unavailable"));
}
