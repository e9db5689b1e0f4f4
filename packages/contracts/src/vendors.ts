import { type Static, Type } from "typebox";
import { slugPattern } from "./catalog-requests.ts";
import { nameMessage, namePattern } from "./names.ts";
import { nextCursor } from "./paging.ts";
import { instant, nullable, optionalUrl } from "./wire-types.ts";

const vendorSlug = Type.String({
  pattern: slugPattern,
  minLength: 3,
  maxLength: 64,
  description: "The vendor's slug, as in tokens",
  examples: ["northwind-health"],
});

const email = Type.String({ format: "email", maxLength: 254 });

/** An address or a page, as the field Contact of a security.txt (RFC 9116) has it. */
export const contactPattern = "^([^\\s@]+@[^\\s@]+|https://[^\\s/]\\S*)$";

export const vendorParams = Type.Object({ slug: vendorSlug });

export const putVendorBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: namePattern,
      "x-error-message": nameMessage,
      examples: ["Northwind Health"],
    }),
    websiteUrl: Type.Optional(optionalUrl("The vendor's site")),
    supportEmail: Type.Optional(nullable(email, "Where practices get help")),
    securityContact: Type.Optional(
      nullable(
        Type.String({
          pattern: contactPattern,
          maxLength: 2_048,
          "x-error-message": "must be an email address or an https URL",
        }),
        "Where security problems are reported: an email address or an https URL",
      ),
    ),
    commissionPercent: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        default: 0,
        description: "The marketplace's share of the vendor's charges, with at most two decimals",
        examples: [12.5],
      }),
    ),
  },
  { additionalProperties: false },
);
export type PutVendorBody = Static<typeof putVendorBody>;

export const importedVendor = Type.Object(
  { slug: vendorSlug, ...putVendorBody.properties },
  { additionalProperties: false },
);
export type ImportedVendor = Static<typeof importedVendor>;

export const vendorDto = Type.Object(
  {
    slug: vendorSlug,
    name: Type.String(),
    websiteUrl: optionalUrl("The vendor's site"),
    supportEmail: nullable(Type.String(), "Where practices get help"),
    securityContact: nullable(Type.String(), "Where security problems are reported"),
    commissionPercent: Type.Number({ description: "The marketplace's share of the vendor's charges" }),
    createdAt: instant("Registered"),
    updatedAt: instant("Last changed"),
  },
  { $id: "VendorDto", title: "VendorDto" },
);
export type VendorDto = Static<typeof vendorDto>;

export const vendorPage = Type.Object(
  {
    items: Type.Array(Type.Ref("VendorDto#")),
    next: nextCursor,
  },
  { $id: "VendorPage", title: "VendorPage" },
);
export type VendorPage = { items: VendorDto[]; next: string | null };
