import pc from 'picocolors';

type Cell = string | number;

const COLOUR_CODE = /\u001b\[[0-9;]*m/g;

function widthOf(text: string): number {
  return text.replace(COLOUR_CODE, '').length;
}

/** The lines of a table. The first column is aligned left; the others hold numbers, so right. */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
): readonly string[] {
  const texts = [header, ...rows.map((row) => row.map(String))];
  const widths = header.map((_, column) =>
    Math.max(...texts.map((row) => widthOf(row[column] ?? ''))),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => {
        const padding = ' '.repeat((widths[column] ?? 0) - widthOf(text));
        return column === 0 ? text + padding : padding + text;
      })
      .join('  ');
  const rule = widths.map((width) => '─'.repeat(width)).join('──');
  return [pc.bold(line(header)), pc.dim(rule), ...texts.slice(1).map(line)];
}
