import type { DemoApp } from "./demo-app.ts";

/** Where `npm run draw:pictures` stores the pictures of the demo apps. */
export const pictureFolder = new URL("pictures/", import.meta.url);

export interface DemoPicture {
  kind: "icon" | "screenshot";
  contentType: "image/png" | "image/webp";
  width: number;
  height: number;
  file: URL;
}

export interface DemoPictures {
  icon: DemoPicture;
  screenshots: (DemoPicture & { text: string })[];
}

/** The committed pictures of an app, with the alternative texts of its screenshots. */
export function picturesOf({ slug, name, screenshotTitles }: DemoApp): DemoPictures {
  return {
    icon: {
      kind: "icon",
      contentType: "image/png",
      width: 512,
      height: 512,
      file: new URL(`${slug}.png`, pictureFolder),
    },
    screenshots: screenshotTitles.map((title, index) => ({
      kind: "screenshot",
      contentType: "image/webp",
      width: 800,
      height: 500,
      file: new URL(`${slug}-${index + 1}.webp`, pictureFolder),
      text: `${name}: ${title}`,
    })),
  };
}
