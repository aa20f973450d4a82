import type { World } from '../world/world.js';
import type { MalformedRecord } from './read-log.js';
import { readDeadLetters } from './read-stores.js';
import type { Findings } from './verdict.js';

const placeOf = ({ partition, offset }: Pick<MalformedRecord, 'partition' | 'offset'>): string =>
  `${partition}:${offset}`;

/** What was written straight into the log and acknowledged is there, and nothing else is. */
function checkWritten(
  world: World,
  malformed: readonly MalformedRecord[],
  findings: Findings,
): void {
  for (const [value, { acknowledged, attempts }] of world.ledger.malformed) {
    const times = malformed.filter((found) => found.value === value).length;
    if (times < acknowledged) findings.noteLost('a malformed record is not in the log', value);
    if (times > attempts) findings.noteDouble('a malformed record is in the log too often', value);
  }
  for (const { value } of malformed) {
    if (!world.ledger.malformed.has(value)) findings.note('malformed and never written', value);
  }
}

/** The dead letters as texts, by their places. */
async function lettersByPlace(world: World): Promise<Map<string, string[]>> {
  const letters = new Map<string, string[]>();
  for (const { reason, value, ...place } of await readDeadLetters(world.clickhouse)) {
    const key = placeOf(place);
    letters.set(key, [...(letters.get(key) ?? []), `${reason}: ${value}`]);
  }
  return letters;
}

/** I7: every malformed record of the log is one dead letter: place, payload and reason. */
export async function checkDeadLetters(
  world: World,
  malformed: readonly MalformedRecord[],
  findings: Findings,
): Promise<void> {
  checkWritten(world, malformed, findings);
  const letters = await lettersByPlace(world);
  for (const found of malformed) {
    const place = placeOf(found);
    const [letter, ...more] = letters.get(place) ?? [];
    const reason = world.ledger.malformed.get(found.value)?.reason;
    const wanted = `${String(reason)}: ${found.value}`;
    if (letter === undefined) findings.noteLost('no dead letter', `${place} ${wanted}`);
    else if (letter !== wanted) findings.note('a dead letter differs', `${letter}, not ${wanted}`);
    if (more.length > 0) findings.noteDouble('several dead letters', place);
    letters.delete(place);
  }
  for (const [place, texts] of letters) {
    findings.noteDouble('a dead letter of nothing', `${place} ${texts.join()}`);
  }
}
