import MarkdownIt, { type Env, type MarkdownIt as Parser, type StateBlock } from "markdown-it";

/**
 * A few characters of Markdown can become many of HTML: an empty row of a table has all its cells, and a quote mark is 27 characters.
 * What is beyond these limits is shown as it is written.
 */
const maxTableCells = 1_000;
const maxContainers = 1_000;
/** A quote is one level, a list with its item two. A line is read again for each quote and list that it may belong to. */
const maxQuoteLevel = 10;
const maxListLevel = 20;
/**
 * markdown-it's own limit: it leaves out blocks that are deeper, so it is above ours. Text is read again for each square bracket that
 * is open, up to this number.
 */
const maxNesting = 25;

/** What a text has used of its limits, and what it has that isn't in the profile. It is the environment of the parser. */
export interface Usage extends Env {
  tableCells: number;
  containers: number;
  hasReferences: boolean;
  isTooComplex: boolean;
}

export const createUsage = (): Usage => ({
  tableCells: 0,
  containers: 0,
  hasReferences: false,
  isTooComplex: false,
});

/** `isSilent`: whether the rule would match, without a change of the state. */
type BlockRule = (state: StateBlock, startLine: number, endLine: number, isSilent: boolean) => boolean;

const usageOf = ({ env }: StateBlock): Usage => env as Usage;

/** Replaces rules of a parser by bounded ones. They need a `Usage` as the environment of each text. */
export function boundRules(parser: Parser): void {
  parser.set({ maxNesting });
  const { ruler } = parser.block;
  // The names are those of the blocks that the rule interrupts, as in markdown-it.
  ruler.at("table", boundTable(getRule("table")), { alt: ["paragraph"] });
  ruler.at("blockquote", boundContainer(getRule("blockquote"), maxQuoteLevel), {
    alt: ["paragraph", "blockquote", "list"],
  });
  ruler.at("list", boundContainer(getRule("list"), maxListLevel), { alt: ["paragraph", "blockquote"] });
  ruler.at("reference", refuseDefinition(getRule("reference")));
}

function getRule(name: string): BlockRule {
  const { ruler } = new MarkdownIt().block;
  ruler.enableOnly(name);
  const [rule] = ruler.getRules("");
  if (rule === undefined) throw new Error(`markdown-it has no rule ${name}`);
  return rule;
}

function boundTable(table: BlockRule): BlockRule {
  return (state, startLine, endLine, isSilent) => {
    if (!table(state, startLine, endLine, true)) return false;
    const usage = usageOf(state);
    const columns = countColumns(state, startLine + 1);
    const maxRows = Math.floor((maxTableCells - usage.tableCells) / columns);
    if (maxRows === 0) {
      usage.isTooComplex = true;
      return false;
    }
    if (isSilent) return true;
    // The second line isn't a row.
    const lastLine = Math.min(endLine, startLine + maxRows + 1);
    table(state, startLine, lastLine, false);
    usage.tableCells += columns * (state.line - startLine - 1);
    if (state.line === lastLine && lastLine < endLine && !state.isEmpty(lastLine)) usage.isTooComplex = true;
    return true;
  };
}

/** Each column has one run of hyphens in the line below the header. */
function countColumns({ src, bMarks, tShift, eMarks }: StateBlock, line: number): number {
  const text = src.slice((bMarks[line] ?? 0) + (tShift[line] ?? 0), eMarks[line]);
  return text.match(/-+/g)?.length ?? 1;
}

function boundContainer(container: BlockRule, maxLevel: number): BlockRule {
  return (state, startLine, endLine, isSilent) => {
    if (!container(state, startLine, endLine, true)) return false;
    const usage = usageOf(state);
    if (state.level >= maxLevel || usage.containers >= maxContainers) {
      usage.isTooComplex = true;
      return false;
    }
    if (isSilent) return true;
    usage.containers += 1;
    return container(state, startLine, endLine, false);
  };
}

/** One definition can be used thousands of times, and each use repeats its URL and its title. */
function refuseDefinition(reference: BlockRule): BlockRule {
  return (state, startLine, endLine) => {
    if (reference(state, startLine, endLine, true)) usageOf(state).hasReferences = true;
    return false;
  };
}
