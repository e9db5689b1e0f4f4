import type { Person } from "./web-realm.ts";

export const riverside = "riverside-clinic";
export const hilltop = "hilltop-family-practice";

const person = (name: string, rest: Partial<Person> = {}): Person => {
  const [firstName = "", lastName = ""] = name.split(" ");
  const username = firstName.toLowerCase();
  return { username, firstName, lastName, email: `${username}@riverside.example`, ...rest };
};
/** An admin of one practice, and a member of another. */
export const amira = person("Amira Haddad", { practices: { [riverside]: "org-admin", [hilltop]: "org-member" } });
/** A member of one practice. */
export const tom = person("Tom Whitfield", { practices: { [riverside]: "org-member" } });
export const ines = person("Ines Carvalho", {
  email: "ines@northwind.example",
  roles: ["vendor-developer"],
  vendors: ["northwind-health"],
});
export const mara = person("Mara Lindqvist", { email: "mara@marketplace.example", roles: ["operator"] });
export const noor = person("Noor Aziz", { email: "noor@marketplace.example", roles: ["auditor"] });
