import { type Static, Type } from "typebox";
import { type ChargeLine, chargeLine, money, month } from "./billing.ts";
import { organisationParams } from "./organisations.ts";
import { nextCursor } from "./paging.ts";
import { currency, instant, nullable, uuid } from "./wire-types.ts";

const statementMonth = month("The month, in UTC");
export const statementParams = Type.Object({ ...organisationParams.properties, month: statementMonth });
export const monthParams = Type.Object({ month: statementMonth });
export const statementQuery = Type.Object({
  format: Type.Optional(
    Type.Enum(["json", "csv"], {
      description: "The same as `Accept: text/csv`, for links. Otherwise `Accept` decides",
    }),
  ),
});
export type StatementQuery = Static<typeof statementQuery>;

const status = Type.Enum(["open", "closed"], {
  description: "A month is closed on the fourth day after it. Then its statement never changes",
});
const asOf = nullable(
  instant(""),
  "The figures of an open month are at least as recent as this (ISO 8601, UTC, milliseconds); null if it wasn't charged yet, or is closed",
);

export const statementLine = Type.Object(
  {
    subscriptionId: uuid("The subscription"),
    appSlug: Type.String(),
    appName: Type.String({ description: "As it was when the month was closed" }),
    currency,
    ...chargeLine.properties,
    description: Type.String({
      description: "The plan, and what is charged of it; the text of a credit",
      examples: ["Team, provider"],
    }),
    quantity: Type.String({
      description: "Units, as a decimal; -1 for a credit, and for what a correction takes back",
      examples: ["3"],
    }),
    adjusts: nullable(
      month("A month"),
      "The closed month that the line corrects, because its usage was reported, or taken back, later; null for what was charged in this month",
    ),
    creditId: nullable(uuid("A credit"), "The credit that the line is; null for charges and corrections"),
  },
  { $id: "StatementLine", title: "StatementLine" },
);
export type StatementLine = ChargeLine & {
  subscriptionId: string;
  appSlug: string;
  appName: string;
  currency: string;
  adjusts: string | null;
  creditId: string | null;
};

const carriedOver = money("What the month before left because its total was negative: 0 or less");
const due = (sum: string) =>
  money(`${sum} + \`carriedOver\`, or 0 if that is less: it is carried over to the next month`);

export const statementTotal = Type.Object(
  { currency, total: money("The sum of the lines"), carriedOver, due: due("`total`") },
  { $id: "StatementTotal", title: "StatementTotal" },
);
export type StatementTotal = Static<typeof statementTotal>;

const totals = Type.Array(Type.Ref("StatementTotal#"), { description: "For each currency" });
const head = { month: statementMonth, status, asOf };
export interface StatementHead {
  month: string;
  status: "open" | "closed";
  asOf: string | null;
}

export const statementPage = Type.Object(
  { items: Type.Array(Type.Object({ ...head, totals }), { description: "The newest first" }), next: nextCursor },
  { $id: "StatementPage", title: "StatementPage" },
);
export interface StatementPage {
  items: (StatementHead & { totals: StatementTotal[] })[];
  next: string | null;
}

export const statementDto = Type.Object(
  {
    ...head,
    orgAlias: Type.String(),
    totals,
    lines: Type.Array(Type.Ref("StatementLine#"), { description: "By currency and subscription" }),
  },
  { $id: "StatementDto", title: "StatementDto" },
);
export interface StatementDto extends StatementHead {
  orgAlias: string;
  totals: StatementTotal[];
  lines: StatementLine[];
}

const adjustsOfVendor = nullable(
  month("A month"),
  "The closed month that is corrected, at its commission; null for what was charged in this month",
);

export const vendorTotal = Type.Object(
  {
    currency,
    adjusts: adjustsOfVendor,
    gross: money("What practices are charged for the vendor's apps, less their credits"),
    commissionPercent: Type.Number({
      description: "The marketplace's share, as it was when the month, or the corrected one, was closed",
    }),
    commission: money("The marketplace's share of `gross`, rounded half up (of a negative one: half down)"),
    net: money("`gross` − `commission`"),
  },
  { $id: "VendorTotal", title: "VendorTotal" },
);
export type VendorTotal = Static<typeof vendorTotal>;
const vendorTotals = Type.Array(Type.Ref("VendorTotal#"), {
  description: "For each currency, and then for each month that is corrected",
});

export const vendorBalance = Type.Object(
  {
    currency,
    net: money("The sum of the `net` of the currency's totals"),
    carriedOver,
    due: due("`net`"),
  },
  { $id: "VendorBalance", title: "VendorBalance" },
);
export type VendorBalance = Static<typeof vendorBalance>;

const balances = Type.Array(Type.Ref("VendorBalance#"), { description: "What the vendor is due, for each currency" });

export const vendorStatementLine = Type.Object(
  {
    description: Type.String({ examples: ["Northwind Scribe", "Northwind Scribe, credits", "Commission, 12.5 %"] }),
    appSlug: nullable(Type.String(), "Null for the commission"),
    subscriptions: nullable(
      Type.Integer(),
      "The subscriptions that were charged, or credited; null for the commission",
    ),
    currency,
    amount: money(
      "Negative for the commission, so that the lines of a currency, with the same `adjusts`, add up to `net`",
    ),
    adjusts: adjustsOfVendor,
  },
  { $id: "VendorStatementLine", title: "VendorStatementLine" },
);
export type VendorStatementLine = Static<typeof vendorStatementLine>;

export const vendorStatementPage = Type.Object(
  {
    items: Type.Array(Type.Object({ ...head, totals: vendorTotals, balances }), { description: "The newest first" }),
    next: nextCursor,
  },
  { $id: "VendorStatementPage", title: "VendorStatementPage" },
);
export interface VendorStatementPage {
  items: (StatementHead & { totals: VendorTotal[]; balances: VendorBalance[] })[];
  next: string | null;
}

export const vendorStatementDto = Type.Object(
  {
    ...head,
    vendor: Type.String({ description: "The vendor's slug" }),
    totals: vendorTotals,
    balances,
    lines: Type.Array(Type.Ref("VendorStatementLine#"), {
      description:
        "For each currency: the apps, their credits, and the commission; then the same for each month that is corrected",
    }),
  },
  { $id: "VendorStatementDto", title: "VendorStatementDto" },
);
export interface VendorStatementDto extends StatementHead {
  vendor: string;
  totals: VendorTotal[];
  balances: VendorBalance[];
  lines: VendorStatementLine[];
}

/** One line that is fit to be printed: without control characters, and those that turn the direction of text. */
const invisible = "\\u0000-\\u001F\\u007F-\\u009F\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uFEFF";
export const creditTextPattern = `^ *[^\\s${invisible}][^${invisible}]*$`;

const creditFields = {
  amount: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "What is given back, in the minor unit of the subscription's currency",
    examples: [1_200],
  }),
  text: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: creditTextPattern,
    "x-error-message": "must be one line of 1 to 200 characters, not only spaces, and without invisible characters",
    description: "Why, as practice and vendor read it on their statements. Nothing about a patient",
    examples: ["The app was down on 3 and 4 May"],
  }),
};

export const creditBody = Type.Object(creditFields, { additionalProperties: false });
export type CreditBody = Static<typeof creditBody>;

export const creditDto = Type.Object(
  {
    id: uuid("The credit: `creditId` of its line"),
    subscriptionId: uuid("The subscription"),
    month: month("The month, in UTC, on whose statements it is"),
    currency,
    ...creditFields,
    createdAt: instant("When it was given"),
  },
  { $id: "CreditDto", title: "CreditDto" },
);
export type CreditDto = Static<typeof creditDto>;

/** A line of the stream for billing systems. */
export const streamedStatement = Type.Object(
  {
    type: Type.Enum(["statement", "vendor", "balance", "end"], {
      description:
        "`statement`: what an organisation owes in a currency. `vendor`: what a vendor earns in a currency, or the correction of a month. `balance`: what that makes in a currency. Who has only something carried over has a `statement` without lines, or only a `balance`. `end`: the last line; without it the stream is incomplete",
    }),
    ...head,
    orgAlias: Type.Optional(Type.String({ description: "Of a statement" })),
    vendor: Type.Optional(Type.String({ description: "The slug of a vendor, also of a balance" })),
    currency: Type.Optional(currency),
    total: Type.Optional(money("Of a statement: the sum of its lines")),
    lines: Type.Optional(Type.Array(Type.Ref("StatementLine#"), { description: "Of a statement" })),
    adjusts: Type.Optional(adjustsOfVendor),
    gross: Type.Optional(money("Of a vendor: what organisations owe for its apps")),
    commissionPercent: Type.Optional(Type.Number({ description: "Of a vendor" })),
    commission: Type.Optional(money("Of a vendor: the marketplace's share")),
    net: Type.Optional(money("Of a vendor: `gross` − `commission`. Of a balance: the sum of these")),
    carriedOver: Type.Optional(
      money("Of a statement and a balance: what the month before left because its total was negative, 0 or less"),
    ),
    due: Type.Optional(
      money("Of a statement and a balance: `total` or `net` + `carriedOver`; 0 if that is negative, and carried over"),
    ),
    statements: Type.Optional(Type.Integer({ description: "In the last line: how many there were" })),
    vendors: Type.Optional(Type.Integer({ description: "In the last line: how many there were" })),
    totals: Type.Optional(
      Type.Array(Type.Ref("StatementTotal#"), { description: "In the last line: what organisations owe" }),
    ),
  },
  { $id: "StreamedStatement", title: "StreamedStatement" },
);
