import { startGallery } from "./gallery.ts";
import { startSearch } from "./search.ts";

for (const list of document.querySelectorAll<HTMLElement>("[data-gallery]")) startGallery(list);
const field = document.querySelector<HTMLInputElement>("[data-search]");
if (field !== null) startSearch(field);
