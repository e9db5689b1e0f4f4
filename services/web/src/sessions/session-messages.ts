import type { MessageData } from "../storefront/page-data.ts";

const signIn = { href: "/login", text: "Sign in" };
/** Leads to the page that was asked for at first. */
const again = (returnTo: string) => ({ href: `/login?returnTo=${encodeURIComponent(returnTo)}`, text: "Try again" });
const apps = { href: "/apps", text: "Browse all apps" };
const home = { href: "/", text: "Go to the start page" };

/** What people are told when signing in or out didn't work, or not completely. */
export const messages = {
  providerUnavailable: (returnTo: string): MessageData => ({
    title: "Signing in doesn't work at the moment",
    text: "The identity provider doesn't respond. The catalog can be read meanwhile, and apps that are installed in your EHR keep working. Try again in a minute.",
    actions: [again(returnTo), apps],
  }),
  sessionsUnavailable: (returnTo: string): MessageData => ({
    title: "Signing in doesn't work at the moment",
    text: "Your sign-in was accepted, but can't be kept, because our database doesn't respond. The catalog can be read meanwhile, and apps that are installed in your EHR keep working. Try again in a minute.",
    actions: [again(returnTo), apps],
  }),
  incomplete: {
    title: "This sign-in can't be completed",
    text: "It was begun in another browser, more than ten minutes ago, or it is completed already.",
    actions: [signIn, home],
  },
  cancelled: { title: "You are not signed in", text: "Signing in was cancelled.", actions: [signIn, home] },
  refused: (reason: string): MessageData => ({
    title: "You are not signed in",
    text: `The sign-in was refused (${reason}). If it happens again, tell your administrator.`,
    actions: [signIn, home],
  }),
  signedOutHereOnly: {
    title: "You are signed out here",
    text: "The identity provider doesn't respond, so you may still be signed in there. On a computer that others use, close the browser, or sign out there later.",
    actions: [home, apps],
  },
  signedOutInBrowserOnly: {
    title: "You are signed out in this browser only",
    text: "This browser has forgotten your session. Our database doesn't respond, so the session itself goes on until it hasn't been used for a while, and so do those of your other browsers. To end them at once, sign in again in a minute, and sign out in all browsers.",
    actions: [home, apps],
  },
} satisfies Record<string, MessageData | ((value: string) => MessageData)>;
