import { tableLines } from '../../../cli/look/tables.js';
import { machineFacts } from '../../harness/machine-facts.js';
import { figureRow, type Section } from '../section.js';
import { writeReport } from './write-report.js';

/**
 * Writes the report page of one measurement, and prints its notes and figures. The process then
 * ends with status 1 when a target is missed.
 */
export async function reportSection(name: string, section: Section): Promise<void> {
  const madeAt = new Date().toISOString();
  const page = await writeReport({ name, madeAt, facts: machineFacts(), sections: [section] });
  for (const note of section.notes) console.log(note);
  const rows = section.findings.map(figureRow);
  for (const line of tableLines(['', 'value', 'target', ''], rows)) console.log(line);
  console.log(`report: ${page}`);
  process.exitCode = section.findings.every(({ isReached }) => isReached !== false) ? 0 : 1;
}
