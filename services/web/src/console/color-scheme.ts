import type { MantineColorSchemeManager } from "@mantine/core";

/** As the storefront's `theme.ts` stores it, so that the choice holds in both. */
const key = "theme";

/** Keeps the chosen theme where the storefront does, and names it to the design tokens. */
export function createColorSchemeManager(): MantineColorSchemeManager {
  const root = document.documentElement;
  let onStorage: ((event: StorageEvent) => void) | undefined;
  const read = (stored: string | null | undefined) => (stored === "light" || stored === "dark" ? stored : undefined);
  return {
    get: (systems) => read(root.dataset["theme"]) ?? systems,
    set: (scheme) => {
      if (scheme === "auto") delete root.dataset["theme"];
      else root.dataset["theme"] = scheme;
      try {
        localStorage.setItem(key, scheme);
      } catch {
        // Storage may be forbidden. The choice then lasts as long as the page.
      }
    },
    subscribe: (onUpdate) => {
      onStorage = (event) => {
        if (event.key !== key) return;
        const scheme = read(event.newValue);
        if (scheme === undefined) delete root.dataset["theme"];
        else root.dataset["theme"] = scheme;
        onUpdate(scheme ?? "auto");
      };
      addEventListener("storage", onStorage);
    },
    unsubscribe: () => {
      if (onStorage !== undefined) removeEventListener("storage", onStorage);
    },
    clear: () => {
      delete root.dataset["theme"];
    },
  };
}
