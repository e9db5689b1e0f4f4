export const settings = JSON.parse(document.querySelector("meta[name=settings]").content);

const { name } = settings;
const again = `Go back to the patient’s chart and open ${name} from there.`;

/** By the error that an authorization server answers with (RFC 6749, section 4.1.2.1), and what this page finds itself. */
const failures = {
  access_denied: {
    title: "This launch can’t be used",
    why: "A launch opens the app once, within five minutes, and only for the person who started it.",
    todo: again,
  },
  temporarily_unavailable: {
    title: "Your EHR isn’t answering",
    why: "It could not tell us whose chart you have open, so nothing is shown.",
    todo: `Wait a minute. ${again} If it fails again, tell whoever runs your EHR.`,
  },
  not_connected: {
    title: `${name} isn’t connected to your practice`,
    why: "Your practice’s EHR has not let the app in yet.",
    todo: `Wait a minute. ${again} If it fails again, tell whoever runs your EHR.`,
  },
  access_ended: {
    title: "Your practice has ended this access",
    why: "Your EHR gives the app no further access: your practice may have paused or cancelled it.",
    todo: `Ask your practice’s admin. Once the app is in use again: ${again}`,
  },
  not_launched: {
    title: `Open ${name} from a chart`,
    why: "This page has no chart of its own: your EHR says whose it is when it opens the app.",
    todo: again,
  },
  unknown_server: {
    title: "This EHR isn’t known here",
    why: "The launch came from a server that Northwind Health does not work with.",
    todo: "Open the app from your own EHR. If you did, tell whoever runs it.",
  },
  other: {
    title: `${name} could not be opened`,
    why: "Your EHR and the app could not agree on the sign-in.",
    todo: `${again} If it fails again, tell whoever runs your EHR.`,
  },
};

function show(state) {
  for (const part of document.querySelectorAll("[data-shown]")) part.hidden = part.dataset.shown !== state;
}

export function write(id, text) {
  document.getElementById(id).textContent = text;
}

export function showFailure(error, detail) {
  const { title, why, todo } = failures[Object.hasOwn(failures, error) ? error : "other"];
  write("failure", title);
  write("failure-why", why);
  write("failure-todo", todo);
  write("failure-detail", detail ?? "");
  document.getElementById("failure-detail").hidden = !detail;
  document.title = `${title} · ${name}`;
  show("failed");
}

export function showOpened() {
  show("opened");
}
