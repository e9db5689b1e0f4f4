/* global FHIR */
import { settings, showFailure, showOpened, write } from "./show.js";

const records = {
  Patient: "Demographics",
  Encounter: "Visits",
  Condition: "Problems",
  MedicationRequest: "Medications",
  Observation: "Vitals and results",
  DocumentReference: "Notes",
};

/** `patient/Condition.rs`: create, read, update, delete, search, as SMART's scopes of version 2 say it. */
function rightOf(scope) {
  const [, record, may] = /^patient\/([A-Za-z*]+)\.([cruds]+)$/.exec(scope) ?? [];
  if (record === undefined) return undefined;
  const [reads, writes] = [/[rs]/.test(may), /[cud]/.test(may)];
  return { what: records[record] ?? record, may: reads && writes ? "read and write" : writes ? "write" : "read" };
}

function listRights(scopes) {
  const items = scopes
    .map(rightOf)
    .filter(Boolean)
    .map(({ what, may }) => {
      const [item, left, right] = ["li", "span", "span"].map((tag) => document.createElement(tag));
      left.textContent = what;
      right.textContent = may;
      right.className = "may";
      item.append(left, right);
      return item;
    });
  document.getElementById("rights").replaceChildren(...items);
}

function writeContext(id, value) {
  write(id, value ?? "");
  document.getElementById(id).hidden = !value;
  document.getElementById(`no-${id}`).hidden = Boolean(value);
}

function display(client) {
  const { tokenResponse, expiresAt, serverUrl } = client.state;
  const { name = client.getUserId() ?? "Somebody" } = client.getIdToken() ?? {};
  const { tenant = "" } = tokenResponse;
  const practice = settings.practices[tenant] ?? tenant;
  const scopes = (tokenResponse.scope ?? "").split(" ");
  write("user", name);
  write("practice", practice);
  write("initials", (name.match(/\p{Lu}/gu) ?? [name.charAt(0)]).slice(0, 2).join(""));
  writeContext("patient", client.getPatientId());
  writeContext("encounter", client.getEncounterId());
  write(
    "lead",
    client.getPatientId()
      ? `${practice} opened this chart for you. Check that the patient above is the one you are with.`
      : `${practice} opened the app for you. Open it from a chart to work with a patient.`,
  );
  listRights(scopes);
  write("until", new Date(expiresAt * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  write("server", serverUrl);
  write("record", client.getFhirUser() ?? "not told");
  write("tenant", tenant);
  write("scopes", scopes.join(" "));
  showOpened();
}

/** Gets a new token while the page is open, so that a long visit needs no second launch. */
function offerRefresh(client) {
  const button = document.getElementById("refresh");
  button.hidden = !client.state.tokenResponse.refresh_token;
  const refresh = async () => {
    button.disabled = true;
    try {
      await client.refresh();
      display(client);
    } catch (error) {
      showFailure(/invalid_grant|invalid_client/.test(error) ? "access_ended" : "temporarily_unavailable");
    }
    button.disabled = false;
  };
  button.addEventListener("click", () => void refresh());
}

async function open() {
  const client = await FHIR.oauth2.ready();
  display(client);
  offerRefresh(client);
}

// A public client says who it is when it refreshes a token (RFC 6749, section 6).
FHIR.oauth2.settings.refreshTokenWithClientId = true;

const answer = new URLSearchParams(location.search);
const state = answer.get("state");
// Anybody can make a link with an error in it; only an answer to a question of ours is quoted.
const isOurs = state !== null && sessionStorage.getItem(state) !== null;

if (answer.has("error")) {
  const [error, description] = [answer.get("error"), answer.get("error_description")];
  showFailure(error, isOurs ? `The reason given: ${description ?? error}.` : undefined);
} else if (!isOurs && sessionStorage.getItem("SMART_KEY") === null) {
  showFailure("not_launched");
} else {
  open().catch(() => showFailure("other"));
}
