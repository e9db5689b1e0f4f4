/** The texts of errors: a part of `texts.ts`, which is what screens import. */
export const errorTexts = {
  error: {
    requestId: "Request id",
    retry: "Try again",
    /** Refusals that people can do something about, by the code of the problem. */
    codes: {
      "subscription-blocked": {
        title: "Your practice can't subscribe to this app at the moment",
        advice:
          "It cancelled while the marketplace had paused the app. Only the marketplace can lift this block: contact it.",
      },
      "already-subscribed": {
        title: "Your practice subscribes to this app already",
        advice: "Somebody has just subscribed to it. It is in your subscriptions.",
      },
      "app-suspended": {
        title: "The marketplace has suspended this app",
        advice:
          "It can't be subscribed to, resumed or changed until the suspension ends. The marketplace knows the reason.",
      },
      "spend-limit-reached": {
        title: "The spend limit doesn't allow that",
        advice: "Raise the spend limit first, then try again. Or wait until next month.",
      },
      "limit-below-cost": {
        title: "This month has already cost more than that",
        advice:
          "Nothing was changed. Open this again to see what it has cost, then set the limit anyway, or a higher one.",
      },
      "scopes-changed": {
        title: "What the app may read and write has changed",
        advice: "Nothing was changed. Read what it asks for now, and agree to it if you want to go on.",
      },
      "baa-changed": {
        title: "The business associate agreement has changed",
        advice: "Nothing was changed. Read the agreement as it is now, and accept it if you want to go on.",
      },
      "too-many-confirmations": {
        title: "Too many emails to confirm an address",
        advice: "Nothing was changed. Keep the current address to save the rest, or try again tomorrow.",
      },
      "subscription-changed-too-often": {
        title: "This subscription has been changed too often",
        advice: "Wait an hour, then try again.",
      },
      "subscription-created-too-often": {
        title: "Your practice has subscribed to this app too often",
        advice: "Try again tomorrow, or ask the marketplace.",
      },
      "session-required": {
        title: "You aren't signed in any more",
        advice: "Nothing was changed, and what you have entered is kept. Try again, and sign in when you are asked to.",
      },
      "session-changed": {
        title: "Somebody else has signed in",
        advice: "Nothing was changed. Load this page anew to go on as the person who is signed in now.",
      },
      forbidden: {
        title: "You aren't allowed to do this",
        advice: "Ask an admin of your practice. If you are one, sign out and sign in again: your roles are read then.",
      },
      "unknown-organisation": {
        title: "The marketplace doesn't know your practice yet",
        advice: "Ask your EHR's operator to have it registered with the marketplace.",
      },
      "sandbox-organisation": {
        title: "This is a practice for tests",
        advice: "It can't subscribe to apps. Choose another practice.",
      },
      "subscription-cancelled": {
        title: "This subscription has been cancelled meanwhile",
        advice: "A cancelled one can't be changed. Subscribe to the app again if you need it.",
      },
      "paused-for-another-reason": {
        title: "This app has been paused meanwhile, for another reason",
        advice: "It doesn't work in your EHR already. Look at the subscription for the reason.",
      },
      "unknown-plan": {
        title: "This plan isn't on sale any more",
        advice: "Nothing was changed. Choose one of the plans that the app has now.",
      },
    } as Record<string, { title: string; advice: string }>,
    titles: {
      unreachable: "The server can't be reached",
      unavailable: "This can't be read at the moment",
      ehrUnavailable: "Your EHR doesn't respond",
      marketplaceUnavailable: "The marketplace doesn't respond",
      signInUnavailable: "Your sign-in can't be renewed at the moment",
      notFound: "Not found",
      refused: "This isn't allowed",
      conflict: "Something has changed meanwhile",
      tooMany: "Too many requests",
      invalid: "This can't be done as entered",
      failed: "Something went wrong",
    },
    advice: {
      unreachable: "Check your connection. Nothing that you entered is lost.",
      unavailable:
        "The catalog can be read meanwhile, and apps that are installed in your EHR keep working. Try again in a minute.",
      ehrUnavailable:
        "What is installed and its settings can't be shown or changed until it does. Subscriptions and costs work meanwhile. Try again in a minute.",
      marketplaceUnavailable:
        "Subscriptions and costs can't be shown or changed until it does. Apps that are installed in your EHR keep working. Try again in a minute.",
      signInUnavailable:
        "The identity provider doesn't respond. You stay signed in, nothing that you entered is lost, and the catalog can be read meanwhile. Try again in a minute.",
      notFound: "It may have been removed, or belong to another practice.",
      refused: "Ask an admin of your practice.",
      conflict: "Read it again, and decide then.",
      tooMany: "Wait a minute, then try again.",
      invalid: "Correct the entry, and try again.",
      failed: "Try again. If it happens again, tell support the request id.",
    },
  },
} as const;
