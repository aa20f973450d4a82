const NUMBER = /^[+-]?\d+(\.\d+)?$/;
/**
 * A spreadsheet may take a cell that begins like this for a formula: it reads full-width signs as
 * the others, and passes over blanks and what is not seen.
 */
const FORMULA = /^(?:[\t\r]|[\s\p{C}\p{Z}]*[=+\-@＝＋－﹣−＠﹢﹦﹫])/u;

/** A cell (docs/domain.md 33.4): quoted where it must be, and never taken for a formula. */
function cellOf(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Rows = readonly (readonly (string | null)[])[];

/** RFC 4180 lines; null is an empty cell. */
export function csvLines(rows: Rows): string {
  const lines = rows.map((row) => row.map((cell) => (cell === null ? '' : cellOf(cell))).join(','));
  return lines.map((line) => `${line}\r\n`).join('');
}

/** RFC 4180 text with a header line. */
export function csvText(header: readonly string[], rows: Rows): string {
  return csvLines([header, ...rows]);
}
