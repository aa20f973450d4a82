import { withKafka } from './on-log.js';
import type { Finding, Measurement, Section } from './section.js';

const LOG = 'log in Kafka';

function onThisLog(section: Section): Section {
  const named = (finding: Finding): Finding => ({ ...finding, what: `${LOG}: ${finding.what}` });
  return {
    ...section,
    title: `${section.title}, ${LOG}`,
    findings: section.findings.map(named),
    notes: section.notes.map((note) => `${LOG}: ${note}`),
  };
}

/**
 * The same measurement with the log in Kafka, on a broker of its own that shares the cores. Where
 * no broker can be had the section says why and has no figures.
 */
export function onKafka(measure: Measurement): Measurement {
  return (options, progress) =>
    withKafka<Section>(
      async (log) => onThisLog(await measure({ ...options, log }, progress)),
      (skipReason) => {
        const notes = [`${LOG}: not measured, ${skipReason}`];
        return { title: `${LOG}: not measured`, findings: [], plots: [], notes };
      },
    );
}
