/** Text is quoted. Numbers, months and ids have a known form and aren't. */
export interface CsvColumn<Row> {
  name: string;
  isText?: boolean;
  valueOf: (row: Row) => string | number | bigint | null;
}

/**
 * Programs for spreadsheets calculate a cell that begins like a formula, and where they separate by semicolons or tabs, what follows one
 * within a text. An apostrophe makes it text.
 */
function escapeFormulas(text: string): string {
  const prefixed = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text;
  return prefixed.replaceAll(/([;\t\r\n]\s*)(?=[=+\-@＝＋－＠])/gu, "$1'");
}

const quote = (text: string): string => `"${escapeFormulas(text).replaceAll('"', '""')}"`;

/** The lines of RFC 4180, with a header. */
export const csvHeader = <Row>(columns: readonly CsvColumn<Row>[]): string =>
  `${columns.map(({ name }) => name).join(",")}\r\n`;

export const csvLine = <Row>(columns: readonly CsvColumn<Row>[], row: Row): string =>
  `${columns
    .map(({ isText = false, valueOf }) => {
      const value = valueOf(row);
      if (value === null) return "";
      return isText ? quote(String(value)) : String(value);
    })
    .join(",")}\r\n`;

export const csvMediaType = "text/csv; charset=utf-8; header=present";
