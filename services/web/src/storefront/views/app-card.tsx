import type { AppDto } from "@ehr-marketplace/contracts";
import { describeStartingPrice } from "../describe-price.ts";
import { texts } from "../texts.ts";
import { AppIcon } from "./elements.tsx";

const t = texts.card;

function AppCard({ app, isFeaturedList }: { app: AppDto; isFeaturedList: boolean }) {
  const { amount, per } = describeStartingPrice(app);
  const marks = [app.featured && !isFeaturedList ? t.featured : undefined, app.baaAvailable ? t.baa : undefined].filter(
    (mark) => mark !== undefined,
  );
  return (
    <li className="card">
      <AppIcon url={app.iconUrl} size={48} />
      <div className="card-text">
        <h3>
          <a href={`/apps/${encodeURIComponent(app.slug)}`}>{app.name}</a>
        </h3>
        <p className="card-vendor">{t.by(app.vendor.name)}</p>
      </div>
      <p className="card-summary">{app.summary}</p>
      <p className="card-foot">
        <span className="price">
          <strong>{amount}</strong> {per}
        </span>
        {marks.map((mark) => (
          <span key={mark} className="mark">
            {mark}
          </span>
        ))}
      </p>
    </li>
  );
}

/** In a list of featured apps, none is marked as such. */
export function AppCards({ apps, isFeaturedList = false }: { apps: AppDto[]; isFeaturedList?: boolean }) {
  return (
    <ul className="cards">
      {apps.map((app) => (
        <AppCard key={app.id} app={app} isFeaturedList={isFeaturedList} />
      ))}
    </ul>
  );
}
