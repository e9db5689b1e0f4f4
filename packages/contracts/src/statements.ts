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
    quantity: Type.String({ description: "Units, as a decimal; -1 for a credit", examples: ["3"] }),
    adjusts: nullable(
      month("A month"),
      "The closed month that the line corrects, because its usage was reported, or taken back, later; null for what was charged in this month",
    ),
  },
  { $id: "StatementLine", title: "StatementLine" },
);
export type StatementLine = ChargeLine & {
  subscriptionId: string;
  appSlug: string;
  appName: string;
  currency: string;
  adjusts: string | null;
};

export const statementTotal = Type.Object(
  { currency, total: money("The sum of the lines") },
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
    gross: money("What practices are charged for the vendor's apps"),
    commissionPercent: Type.Number({
      description: "The marketplace's share, as it was when the month, or the corrected one, was closed",
    }),
    commission: money("The marketplace's share of `gross`, rounded half up (of a credit: half down)"),
    net: money("`gross` − `commission`"),
  },
  { $id: "VendorTotal", title: "VendorTotal" },
);
export type VendorTotal = Static<typeof vendorTotal>;
const vendorTotals = Type.Array(Type.Ref("VendorTotal#"), {
  description: "For each currency, and then for each month that is corrected",
});

export const vendorStatementLine = Type.Object(
  {
    description: Type.String({ examples: ["Northwind Scribe", "Commission, 12.5 %"] }),
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
    items: Type.Array(Type.Object({ ...head, totals: vendorTotals }), { description: "The newest first" }),
    next: nextCursor,
  },
  { $id: "VendorStatementPage", title: "VendorStatementPage" },
);
export interface VendorStatementPage {
  items: (StatementHead & { totals: VendorTotal[] })[];
  next: string | null;
}

export const vendorStatementDto = Type.Object(
  {
    ...head,
    vendor: Type.String({ description: "The vendor's slug" }),
    totals: vendorTotals,
    lines: Type.Array(Type.Ref("VendorStatementLine#"), {
      description: "For each currency: the apps, and the commission; then the same for each month that is corrected",
    }),
  },
  { $id: "VendorStatementDto", title: "VendorStatementDto" },
);
export interface VendorStatementDto extends StatementHead {
  vendor: string;
  totals: VendorTotal[];
  lines: VendorStatementLine[];
}

/** A line of the stream for billing systems. */
export const streamedStatement = Type.Object(
  {
    type: Type.Enum(["statement", "vendor", "end"], {
      description:
        "`statement`: what an organisation owes in a currency. `vendor`: what a vendor earns in a currency, or the correction of a month. `end`: the last line; without it the stream is incomplete",
    }),
    ...head,
    orgAlias: Type.Optional(Type.String({ description: "Of a statement" })),
    vendor: Type.Optional(Type.String({ description: "The slug of a vendor" })),
    currency: Type.Optional(currency),
    total: Type.Optional(money("Of a statement: the sum of its lines")),
    lines: Type.Optional(Type.Array(Type.Ref("StatementLine#"), { description: "Of a statement" })),
    adjusts: Type.Optional(adjustsOfVendor),
    gross: Type.Optional(money("Of a vendor: what organisations owe for its apps")),
    commissionPercent: Type.Optional(Type.Number({ description: "Of a vendor" })),
    commission: Type.Optional(money("Of a vendor: the marketplace's share")),
    net: Type.Optional(money("Of a vendor: `gross` − `commission`")),
    statements: Type.Optional(Type.Integer({ description: "In the last line: how many there were" })),
    vendors: Type.Optional(Type.Integer({ description: "In the last line: how many there were" })),
    totals: Type.Optional(
      Type.Array(Type.Ref("StatementTotal#"), { description: "In the last line: what organisations owe" }),
    ),
  },
  { $id: "StreamedStatement", title: "StreamedStatement" },
);
