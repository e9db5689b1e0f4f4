/** The colours of a theme. Text colours have a contrast of at least 4.5 on all surfaces of their theme. */
export interface Theme {
  surface: string;
  /** Of cards and fields, which lie on the surface. */
  raised: string;
  text: string;
  muted: string;
  /** Between parts: decoration only. */
  line: string;
  /** Of controls, which need a contrast of 3. */
  control: string;
  accent: string;
  /** Text on the accent colour. */
  onAccent: string;
  accentSoft: string;
  positive: string;
  warning: string;
  warningSoft: string;
  danger: string;
}

export const themes: Record<"light" | "dark", Theme> = {
  light: {
    surface: "#fbfcfc",
    raised: "#ffffff",
    text: "#14272e",
    muted: "#4c626a",
    line: "#dfe8e9",
    control: "#6f8890",
    accent: "#0a6572",
    onAccent: "#ffffff",
    accentSoft: "#e4f1f2",
    positive: "#1a6f45",
    warning: "#7f5200",
    warningSoft: "#fdf3dc",
    danger: "#a83218",
  },
  dark: {
    surface: "#0e171a",
    raised: "#152125",
    text: "#e7eff0",
    muted: "#a3b6bb",
    line: "#263a40",
    control: "#71898f",
    accent: "#63c7d2",
    onAccent: "#06252a",
    accentSoft: "#17333a",
    positive: "#74d2a1",
    warning: "#efc46d",
    warningSoft: "#33290f",
    danger: "#ffa48a",
  },
};

export const fontFamily = '"Inter Variable", "Inter Fallback", system-ui, sans-serif';

/** Sizes of text in rem: a scale of about 1.2 from 16 px. */
export const fontSizes = { small: 0.875, base: 1, large: 1.125, title: 1.375, heading: 1.75, display: 2.25 } as const;

export const radii = { small: "6px", large: "12px" } as const;
