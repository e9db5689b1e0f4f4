const maxLines = 40;
const logs = new Map<string, string[]>();

/** Returns a function that keeps the last lines that a process has printed, for when a test fails. */
export function keepLog(name: string): (line: string) => void {
  const lines: string[] = [];
  logs.set(`${name} (${logs.size + 1})`, lines);
  return (line) => {
    lines.push(line.trimEnd());
    if (lines.length > maxLines) lines.shift();
  };
}

/** What all processes have printed since it was taken last. */
export function takeLogs(): string {
  const texts = [...logs].map(([name, lines]) => {
    const printed = lines.splice(0);
    return printed.length === 0 ? "" : `--- ${name}\n${printed.join("\n")}\n`;
  });
  return texts.join("");
}
