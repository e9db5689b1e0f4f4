import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from "@mantine/core";
import { fontFamily, fontSizes, radii } from "../design/tokens.ts";

/** The design tokens are custom properties, which have the colours of the theme that is shown. So both themes use the same names. */
const tokenOf: Record<string, string> = {
  accent: "var(--accent)",
  danger: "var(--danger)",
  positive: "var(--positive)",
  warning: "var(--warning)",
  muted: "var(--muted)",
};
const resolveToken = (color: string | undefined): string => tokenOf[color ?? "accent"] ?? "var(--accent)";

const shades = (color: string): MantineColorsTuple => {
  const value = resolveToken(color);
  return [value, value, value, value, value, value, value, value, value, value];
};

const softOf = (token: string): string => `color-mix(in srgb, ${token} 10%, var(--raised))`;

const variantColorResolver: VariantColorsResolver = ({ color, variant }) => {
  const token = resolveToken(color);
  const transparent = "1px solid transparent";
  switch (variant) {
    case "filled":
      return {
        background: token,
        hover: `color-mix(in srgb, ${token} 88%, var(--text))`,
        color: "var(--on-accent)",
        border: transparent,
      };
    case "light":
      return { background: softOf(token), hover: softOf(token), color: token, border: transparent };
    case "outline":
      return { background: "transparent", hover: softOf(token), color: token, border: `1px solid ${token}` };
    case "subtle":
    case "transparent":
      return { background: "transparent", hover: softOf(token), color: token, border: transparent };
    default:
      return {
        background: "transparent",
        hover: "var(--accent-soft)",
        color: "var(--text)",
        border: "1px solid var(--control)",
      };
  }
};

const rem = (size: number): string => `${size}rem`;

export const theme = createTheme({
  fontFamily,
  fontFamilyMonospace: "ui-monospace, monospace",
  fontSizes: {
    xs: rem(0.8125),
    sm: rem(fontSizes.small),
    md: rem(fontSizes.base),
    lg: rem(fontSizes.large),
    xl: rem(fontSizes.title),
  },
  headings: {
    fontFamily,
    fontWeight: "650",
    sizes: {
      h1: { fontSize: rem(fontSizes.heading), lineHeight: "1.25" },
      h2: { fontSize: rem(fontSizes.large), lineHeight: "1.35" },
      h3: { fontSize: rem(fontSizes.base), lineHeight: "1.4" },
    },
  },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.55", lg: "1.6", xl: "1.6" },
  colors: Object.fromEntries(Object.keys(tokenOf).map((name) => [name, shades(name)])),
  primaryColor: "accent",
  defaultRadius: radii.small,
  radius: { md: radii.large },
  cursorType: "pointer",
  respectReducedMotion: true,
  variantColorResolver,
  components: {
    Checkbox: { defaultProps: { iconColor: "var(--on-accent)" } },
    Radio: { defaultProps: { iconColor: "var(--on-accent)" } },
    Modal: { defaultProps: { centered: true, radius: "md", transitionProps: { duration: 120 } } },
    Drawer: { defaultProps: { transitionProps: { duration: 160 } } },
    // A dialog's header isn't the page's banner.
    ModalHeader: { defaultProps: { role: "presentation" } },
    DrawerHeader: { defaultProps: { role: "presentation" } },
    Menu: { defaultProps: { shadow: "md", transitionProps: { duration: 120 } } },
  },
});

const variables = {
  "--mantine-color-body": "var(--surface)",
  "--mantine-color-text": "var(--text)",
  "--mantine-color-bright": "var(--text)",
  "--mantine-color-dimmed": "var(--muted)",
  "--mantine-color-placeholder": "var(--muted)",
  "--mantine-color-anchor": "var(--accent)",
  "--mantine-color-error": "var(--danger)",
  "--mantine-color-success": "var(--positive)",
  "--mantine-color-default": "var(--raised)",
  "--mantine-color-default-hover": "var(--accent-soft)",
  "--mantine-color-default-color": "var(--text)",
  "--mantine-color-default-border": "var(--control)",
  "--mantine-color-disabled": "var(--line)",
  "--mantine-color-disabled-color": "var(--muted)",
  "--mantine-color-disabled-border": "var(--line)",
  "--mantine-primary-color-contrast": "var(--on-accent)",
};

export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: {}, light: variables, dark: variables });
