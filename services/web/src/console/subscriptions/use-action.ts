import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useIdempotencyKeys } from "../api/idempotency-keys.ts";
import { practiceKey } from "../api/practice-queries.ts";

type Headers = { "idempotency-key": string };

export interface ActionOptions<Body> {
  alias: string;
  /** What is sent; undefined if the action has no body. */
  body: Body;
  run: (body: Body, headers: Headers) => Promise<unknown>;
  onDone: () => void;
}

/**
 * A change of something of a practice. Attempts with the same body have the same idempotency key until one has succeeded. Afterwards,
 * whether it succeeded or not, everything of the practice is read again.
 */
export function useAction<Body>({ alias, body, run, onDone }: ActionOptions<Body>) {
  const queries = useQueryClient();
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: () => run(body, { "idempotency-key": keys.keyFor(body) }),
    onSuccess: () => {
      keys.forget();
      onDone();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: practiceKey(alias) }),
  });
}
