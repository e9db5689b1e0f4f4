import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const vendorProblems = {
  notFound: {
    code: "vendor-not-found",
    status: 404,
    title: "No such vendor",
    advice:
      "No vendor is registered under that slug or, in the catalog, none with published apps. Operators list all vendors with `GET /admin/vendors`.",
  },
  unknown: {
    code: "unknown-vendor",
    status: 422,
    title: "The vendor is not registered",
    advice:
      "No vendor of the marketplace has that slug. Check `X-Vendor-Slug`, the vendor in your token, or `vendorSlug`.",
  },
} satisfies Record<string, ProblemKind>;
