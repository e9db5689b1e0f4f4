import { formatCount } from "../storefront/format.ts";

/** The texts of what one pays: a part of `texts.ts`, which is what screens import. */
export const moneyTexts = {
  statements: {
    title: "Statements",
    text: "One for each calendar month (UTC), the newest first.",
    caption: "Statements by month, the newest first",
    columns: { month: "Month", state: "State", total: "Total" },
    states: { open: "So far", closed: "Final" },
    nothing: "Nothing charged",
    empty: "Nothing has been charged in these months",
    emptyText: "When your practice uses an app that costs something, each month is listed here with its total.",
    chart: (currency: string): string => `Totals by month in ${currency}`,
    chartLabel: (currency: string, from: string, to: string): string =>
      `Bar chart of the totals in ${currency}, from ${from} to ${to}. The table has the same figures.`,
    chartOpen: "Outlined: so far",
    bar: (month: string, total: string): string => `${month}: ${total}`,
  },
  statement: {
    title: (month: string): string => `Statement for ${month}`,
    all: "All statements",
    practice: "Practice",
    state: "State",
    total: "Total",
    generated: "Generated",
    closed: "It never changes: what a vendor reports later is corrected in a later statement.",
    due: "To pay",
    nothingDue: (rest: string): string => `Nothing. ${rest} is carried over to the next month.`,
    carriedOver: "Carried over from the month before",
    open: (time: string): string =>
      `As of ${time}. It becomes final on the fourth day after the month, and can change until then.`,
    noInvoice: "This isn't an invoice: the marketplace calculates what you owe, and its operator invoices it.",
    zone: "Months and days are in UTC.",
    caption: (currency: string): string => `Lines in ${currency}, by app`,
    inCurrency: (currency: string): string => `Charges in ${currency}`,
    columns: { what: "Charge", quantity: "Quantity", price: "Price of a unit", days: "Days", amount: "Amount" },
    csvColumns: {
      month: "Month",
      state: "State",
      app: "App",
      intervalDays: "Days of the interval",
      currency: "Currency",
      corrects: "Corrects",
    },
    days: (days: number, of: number): string => `${days} of ${formatCount(of, "day", "days")}`,
    byUsage: "By usage",
    correction: (month: string): string =>
      `Corrects ${month}, which was final: usage was reported or taken back later, or you subscribed again within seven days.`,
    credit: "Credit",
    creditText: "Credit from the marketplace.",
    totalIn: (currency: string): string => `Total in ${currency}`,
    empty: "Nothing was charged in this month",
    emptyText:
      "Apps that are free, in their trial, or paused for more than seven days cost nothing, and aren't listed.",
    csv: "Download CSV",
    csvDone: (name: string): string => `${name} is downloaded.`,
    print: "Print",
  },
  cancelDialog: {
    title: (app: string): string => `Cancel ${app}?`,
    text: (app: string, practice: string): string =>
      `The subscription of ${practice} to ${app} ends now. The app stops working in the EHR within seconds, for everybody there.`,
    settings: "Its settings are kept for 30 days: if you subscribe again until then, they are used.",
    pay: (month: string, amount: string): string => `You pay ${amount} for ${month}, today included.`,
    paySoFar: (month: string, amount: string): string => `${month} has cost ${amount} so far, today included.`,
    payUnknown: "What you pay for this month can't be shown at the moment. It is on the month's statement.",
    late: "You are charged for what was used until now. The vendor can report that up to 35 days later, so it can still appear on a statement after you have cancelled.",
    final:
      "This can't be undone. Subscribing again begins a new subscription; within seven days, the days between are charged.",
    finalNoTrial:
      "This can't be undone. Subscribing again begins a new subscription, without a trial; within seven days, the days between are charged.",
    finalBlocked:
      "This can't be undone. Because the marketplace has paused this app, your practice can't subscribe to it again until the marketplace lifts the block.",
    keep: "Keep it",
    button: "Cancel subscription",
  },
  monthCosts: {
    statement: "Show the statement",
    caption: "By app in use",
    app: "App",
    soFar: "So far",
    projected: "Projected for the month",
    unknown: "–",
    others: (count: number): string => formatCount(count, "other app", "other apps"),
  },
  spendLimit: {
    title: "Spend limit",
    none: "No limit is set: the app costs what is used.",
    limit: "Limit in a month",
    spent: "Spent so far",
    of: (spent: string, limit: string): string => `${spent} of ${limit}`,
    meter: "Share of the limit that is spent",
    reached: "When it is reached",
    notify: "Your practice is told. The app keeps working.",
    pause: "Your practice is told, and the app is paused.",
    set: "Set a limit",
    change: "Change limit",
    remove: "Remove limit",
    restore: "Use default limit",
    isDefault: "The marketplace's default for apps that charge by usage",
    done: {
      set: (amount: string): string => `The limit is ${amount} in a month.`,
      removed: "The limit is removed.",
      restored: "The default limit is back.",
    },
    thenResume: "Resume the app to use it again.",
    stillTooLow: (least: string): string =>
      `That is still too low to resume the app this month: it takes at least ${least}.`,
    dialog: {
      title: (app: string): string => `Limit what ${app} costs`,
      text: (app: string, practice: string): string =>
        `What ${app} may cost ${practice} in a calendar month (UTC), compared with the month so far.`,
      amount: (currency: string): string => `Limit in a month (${currency})`,
      invalid: (example: string): string => `Enter an amount above zero, such as ${example}.`,
      soFar: (month: string, amount: string): string => `${month} so far: ${amount}`,
      at100: "At 100 % of the limit",
      notify: "Tell us",
      notifyText: "The app keeps working, and everything it uses is charged, however much that is.",
      pause: "Tell us, and pause the app",
      pauseText: (app: string, practice: string): string =>
        `${app} stops working in the EHR of ${practice} within seconds, for everybody there. Its settings stay.`,
      what: "What happens",
      at80: (amount: string): string => `At 80 % of ${amount}, your practice gets a notice, once.`,
      notifyAt100: (amount: string): string =>
        `At ${amount}, it gets another notice, once. The app keeps working, and costs go on.`,
      pauseAt100: (amount: string): string =>
        `At ${amount}, it gets another notice, and the app is paused. You can resume it when you raise the limit, or next month.`,
      reached: (spent: string, paused: string | undefined): string =>
        `This month has already cost ${spent}, so this limit is reached.${paused === undefined ? "" : ` ${paused} is paused at once.`}`,
      reachedButton: "Set it anyway",
      late: "Usage above the limit isn't charged: the vendor can report it again only if you raise the limit.",
      vendor: "The vendor doesn't see the limit.",
      setButton: "Set limit",
      changeButton: "Change limit",
    },
    removeDialog: {
      title: (app: string): string => `Remove the limit of ${app}?`,
      text: (app: string, practice: string): string =>
        `${app} costs ${practice} what is used, however much it is. Your practice gets no notice about it, and the app isn't paused for it.`,
      restoreTitle: (app: string): string => `Use the default limit for ${app}?`,
      restoreText: (app: string): string =>
        `${app} gets the marketplace's default limit: when the month reaches it, the app is paused, and usage above it isn't charged.`,
      restoreButton: "Use default limit",
      paused: "The app stays paused until you resume it.",
      undo: "You can set a limit at any time.",
      button: "Remove limit",
      keep: "Keep it",
    },
    paused: {
      title: (app: string): string => `${app} is paused because its spend limit is reached`,
      text: "It doesn't work in your EHR until it is resumed. Days on which it is paused throughout (UTC) have no fixed price, unless you raise the limit in the same month and resume it.",
      amounts: (month: string, spent: string, limit: string): string => `${month} so far: ${spent}. Limit: ${limit}.`,
      admin: (least: string | undefined): string =>
        least === undefined
          ? "Raise the limit, then resume the app. Or resume it next month."
          : `More usage was reported than the limit allows, and it was rejected. Raise the limit to at least ${least}, then resume the app. Or resume it next month.`,
      member: "An admin of your practice can raise the limit and resume it.",
    },
  },
} as const;
