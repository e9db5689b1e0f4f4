import { isDatabaseAway } from "./database-away.ts";

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Whatever comes while writes are under way is written with the next one: under load many share a statement and a commit,
 * and a single one goes out at once. `write` answers a result for each item, in their order.
 */
export function writeTogether<Item, Result>(options: {
  most: number;
  /** How many writes may be under way. */
  atOnce?: number;
  write: (items: Item[]) => Promise<Result[]>;
}): (item: Item) => Promise<Result> {
  const line: Waiting<Item, Result>[] = [];
  const { most, atOnce = 1 } = options;
  let writing = 0;

  const writeAll = async (): Promise<void> => {
    writing += 1;
    while (line.length > 0) {
      const batch = line.splice(0, most);
      try {
        const results = await options.write(batch.map(({ item }) => item));
        if (results.length !== batch.length) throw new Error(`${results.length} results of ${batch.length} writes`);
        for (const [nth, { resolve }] of batch.entries()) resolve(results[nth] as Result);
      } catch (error) {
        // Those in line would wait for the same, each behind the time-outs of those before it.
        const refused = isDatabaseAway(error) ? [...batch, ...line.splice(0)] : batch;
        for (const { reject } of refused) reject(error);
      }
    }
    writing -= 1;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      line.push({ item, resolve, reject });
      if (writing < atOnce) void writeAll();
    });
}
