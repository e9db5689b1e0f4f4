import { escapeXml as escape } from "../demo-data/escape-xml.ts";
import { type Persona, personaNames, personas } from "./personas.ts";

const style = `
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:3rem auto;padding:0 1.5rem;color:#16323c;background:#f7fafa}
h1{font-size:1.6rem;margin:.2rem 0}
h2{font-size:1rem;margin:1.75rem 0 .6rem}
p{margin:.4rem 0;text-wrap:pretty}
code{background:#e3eeee;border-radius:4px;padding:.1em .35em}
.status{color:#0b6e7a;font-weight:600;letter-spacing:.04em}
ul{list-style:none;margin:0;padding:0;display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,25rem),1fr))}
button{font:inherit;color:inherit;text-align:left;width:100%;height:100%;display:flex;flex-direction:column;padding:.8rem 1rem;background:#fff;border:1px solid #c3d9d9;border-radius:8px;cursor:pointer}
button:hover{border-color:#0b6e7a;background:#eef6f6}
button:focus-visible{outline:3px solid #0b6e7a;outline-offset:2px}
.name{font-weight:600;color:#0b6e7a}
.id{font:.8rem ui-monospace,monospace;color:#4d6670;margin-top:auto;padding-top:.35rem}
`;

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title><style>${style}</style></head>
<body><main>${body}</main></body></html>
`;
}

function headers(formAction: string): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src 'unsafe-inline'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
}

function choice(persona: Persona): string {
  const { displayName, may } = personas[persona];
  return `<li><button name="persona" value="${persona}"><span class="name">${escape(displayName)}</span><span>${escape(may)}</span><span class="id">${persona}</span></button></li>`;
}

function choices(): string {
  const groups = Object.entries(Object.groupBy(personaNames, (persona) => personas[persona].group));
  return groups.map(([group, members]) => `<h2>${escape(group)}</h2><ul>${members.map(choice).join("")}</ul>`).join("");
}

export const loginPage = {
  // Browsers check `form-action` against each redirect after the form is submitted, including the one to the client.
  headers: (redirectUri: string) => headers(`'self' ${new URL(redirectUri).origin}`),
  body: (clientName: string) =>
    page(
      "Who are you today?",
      `<p class="status">LOCAL STACK</p><h1>Who are you today?</h1>` +
        `<p><code>${escape(clientName)}</code> asks who you are. Everyone here is made up, and has no password.</p>` +
        `<form method="post">${choices()}</form>`,
    ),
};

export const logoutPage = {
  // The form's response redirects to the client.
  headers: headers("'self' http://127.0.0.1:*"),
  body: (form: string) =>
    page(
      "Sign out?",
      `<p class="status">LOCAL STACK</p><h1>Sign out of the identity provider?</h1>${form}` +
        `<ul><li><button form="op.logoutForm" name="logout" value="yes"><span class="name">Sign out</span></button></li>` +
        `<li><button form="op.logoutForm"><span class="name">Stay signed in</span></button></li></ul>`,
    ),
};

export const loggedOutPage = {
  headers: headers("'none'"),
  body: () => page("Signed out", `<p class="status">LOCAL STACK</p><h1>You are signed out</h1>`),
};

export const errorPage = {
  headers: headers("'none'"),
  body: (error: string, description: string) =>
    page(
      "You are not signed in",
      `<p class="status">LOCAL STACK</p><h1>You are not signed in</h1>` +
        `<p>This sign-in can't go on; perhaps it has expired. Go back to where you came from and sign in from there again.</p>` +
        `<p>The reason: <code>${escape(error)}</code> ${escape(description)}</p>`,
    ),
};
