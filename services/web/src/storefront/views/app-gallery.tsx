import type { AppDto } from "@ehr-marketplace/contracts";
import { texts } from "../texts.ts";

const t = texts.app;

/** A strip of links to the pictures. With scripts, they open in a viewer on the page. */
export function AppGallery({ app: { screenshots, screenshotTexts } }: { app: AppDto }) {
  const pictures = screenshots.filter((url) => /^https?:/i.test(url));
  if (pictures.length === 0) return null;
  return (
    <section aria-label={t.screenshots}>
      <ul
        className="gallery"
        data-gallery={t.viewer}
        data-close={t.close}
        data-previous={t.previousPicture}
        data-next={t.nextPicture}
      >
        {pictures.map((url, nth) => (
          <li key={url}>
            <a href={url}>
              <img
                src={url}
                alt={screenshotTexts[screenshots.indexOf(url)] ?? ""}
                width={640}
                height={400}
                loading={nth === 0 ? "eager" : "lazy"}
                fetchPriority={nth === 0 ? "high" : "auto"}
              />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
