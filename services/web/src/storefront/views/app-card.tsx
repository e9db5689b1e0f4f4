import type { AppDto } from "@ehr-marketplace/contracts";
import { describeStartingPrice } from "../describe-price.ts";
import { texts } from "../texts.ts";
import { AppIcon } from "./elements.tsx";

const t = texts.card;

function AppCard({ app, marksFeatured }: { app: AppDto; marksFeatured: boolean }) {
  const { amount, per } = describeStartingPrice(app);
  const marks = [app.featured && marksFeatured ? t.featured : undefined, app.baaAvailable ? t.baa : undefined].filter(
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

/** A page with a list of featured apps marks none as such. */
export function AppCards({ apps, marksFeatured = true }: { apps: AppDto[]; marksFeatured?: boolean }) {
  return (
    <ul className="cards">
      {apps.map((app) => (
        <AppCard key={app.id} app={app} marksFeatured={marksFeatured} />
      ))}
    </ul>
  );
}
