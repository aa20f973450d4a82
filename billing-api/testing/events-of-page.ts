import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../runtime/project.js';

/** The names in a cell such as `a.created, .updated; b.updated`. */
function eventsOfCell(cell: string): string[] {
  let prefix = '';
  return cell.split(/[,;]/).map((part) => {
    const name = part.trim();
    if (name.startsWith('.')) return `${prefix}${name}`;
    prefix = name.slice(0, name.lastIndexOf('.'));
    return name;
  });
}

/** The system events that docs/http.md 11.3 lists. */
export function eventsOfPage(): ReadonlySet<string> {
  const [, section = ''] = readFileSync(join(projectRoot, 'docs/http.md'), 'utf8').split(
    '### 11.3 ',
  );
  const rows = (section.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return new Set(rows.flatMap((row) => eventsOfCell(row.split('|')[1] ?? '')));
}
