import { type Static, Type } from "typebox";
import { listingParams } from "./listings.ts";
import { nullable, uuid } from "./wire-types.ts";

export const mediaKinds = ["icon", "screenshot", "document"] as const;
export type MediaKind = (typeof mediaKinds)[number];

export const uploadMediaQuery = Type.Object({
  kind: Type.Optional(
    Type.Enum([...mediaKinds], {
      description:
        "What the file is for. An icon is square, with at least 512 × 512 pixels. A document is a PDF; the others are PNG, JPEG or WebP. If omitted: a PDF is a document, a picture that can be an icon is one, and any other is a screenshot",
      examples: ["icon"],
    }),
  ),
});

export const mediaParams = Type.Object({
  ...listingParams.properties,
  id: uuid("The media's id"),
});

export const purgedMediaParams = Type.Object({ id: mediaParams.properties.id });

const pixels = (description: string) => nullable(Type.Integer({ minimum: 1 }), description);

export const mediaDto = Type.Object(
  {
    id: uuid("The id that a draft refers to it with"),
    url: Type.String({ format: "uri", description: "Where anyone can read it once a revision with it is published" }),
    width: pixels("In pixels, as stored; null for a document"),
    height: pixels("In pixels, as stored; null for a document"),
    contentType: Type.String({ description: "As stored", examples: ["image/webp"] }),
    bytes: Type.Integer({ minimum: 1, description: "As stored" }),
  },
  { $id: "MediaDto", title: "MediaDto" },
);
export type MediaDto = Static<typeof mediaDto>;
