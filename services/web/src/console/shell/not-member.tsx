import { useSession } from "../api/session.ts";
import { practiceName } from "../practice-name.ts";
import { EmptyNotice } from "../states/notices.tsx";
import { texts } from "../texts.ts";
import { TextLink } from "./links.tsx";

/** Instead of a screen about a practice that the person doesn't belong to. */
export function NotMember({ alias }: { alias: string }) {
  const { practices } = useSession();
  return (
    <EmptyNotice level={1} title={texts.otherPractice.title} text={texts.otherPractice.text(practiceName(alias))}>
      {practices.map((practice) => (
        <TextLink key={practice.alias} to="/practice/$alias" params={{ alias: practice.alias }}>
          {practiceName(practice.alias)}
        </TextLink>
      ))}
    </EmptyNotice>
  );
}
