import { Button } from "@mantine/core";
import { texts } from "../texts.ts";
import { EmptyNotice } from "./notices.tsx";

/** What browsers say if a module can't be loaded: Chromium, Firefox, Safari. */
const messages = /dynamically imported module|Importing a module script failed/i;

/** Whether a part of the console can't be loaded: after an upgrade, the server may have only that of another version. */
export const isOfOldVersion = (error: unknown): boolean => error instanceof Error && messages.test(error.message);

export function NewVersionNotice() {
  return (
    <EmptyNotice level={1} title={texts.newVersion.title} text={texts.newVersion.text}>
      <Button onClick={() => location.reload()}>{texts.newVersion.button}</Button>
    </EmptyNotice>
  );
}
