import { obtainKafka } from '../harness/kafka.js';
import type { Finding, Measurement } from './section.js';

const LOG = 'log in Kafka';

/**
 * The same measurement with the log in Kafka, on a broker of its own that shares the cores. Where
 * no broker can be had the section says why and has no figures.
 */
export function onKafka(measure: Measurement): Measurement {
  return async (options, progress) => {
    const { kafka, skipReason } = await obtainKafka();
    if (kafka === null) {
      const notes = [`${LOG}: not measured, ${skipReason}`];
      return { title: `${LOG}: not measured`, findings: [], plots: [], notes };
    }
    try {
      const log = { KAFKA_BROKERS: kafka.brokers };
      const section = await measure({ ...options, log }, progress);
      const named = (finding: Finding): Finding => ({
        ...finding,
        what: `${LOG}: ${finding.what}`,
      });
      return {
        ...section,
        title: `${section.title}, ${LOG}`,
        findings: section.findings.map(named),
        notes: section.notes.map((note) => `${LOG}: ${note}`),
      };
    } finally {
      await kafka.stop();
    }
  };
}
