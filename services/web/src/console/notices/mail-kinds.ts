import type { NoticeSettingsDto } from "@ehr-marketplace/client/marketplace";
import { texts } from "../texts.ts";

type Kind = NoticeSettingsDto["mutedKinds"][number];

/** Those that a practice gets. */
export const practiceKinds = Object.keys(texts.notices.kinds) as (keyof typeof texts.notices.kinds)[];

/** As the API accepts it: one address, without a name. */
const emailPattern = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+$/;

/** Null if it is empty: no mails. Undefined if it isn't an address. */
export function readEmail(entered: string): string | null | undefined {
  const email = entered.trim();
  if (email === "") return null;
  return email.length <= 254 && emailPattern.test(email) ? email : undefined;
}

/** The muted kinds after one of them is chosen or not. Those that the form doesn't show stay. */
export const setMailed = (muted: readonly Kind[], kind: Kind, isMailed: boolean): Kind[] => [
  ...muted.filter((each) => each !== kind),
  ...(isMailed ? [] : [kind]),
];
