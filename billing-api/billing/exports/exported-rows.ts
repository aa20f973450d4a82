import type { ScheduledTaskRow } from '../../declarations/exports/scheduled-task.resource.js';
import type { Interval } from '../../../contract/instant.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { eventPages, EVENT_COLUMNS } from './event-rows.js';
import type { ExportNeeds, Row } from './export-needs.js';
import {
  creditUsagePages,
  CREDIT_USAGE_COLUMNS,
  invoicePages,
  INVOICE_COLUMNS,
  topUpPages,
  TOP_UP_COLUMNS,
} from './money-rows.js';

/** A file: its header, and its rows page by page. */
export type ExportedFile = {
  readonly header: readonly string[];
  readonly pages: AsyncIterable<readonly Row[]>;
};

/** What a scheduled task exports of a window (docs/domain.md 33.6). */
export function exportedFile(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  { scheduled, window }: { readonly scheduled: ScheduledTaskRow; readonly window: Interval },
): ExportedFile {
  const { entity_type: entityType, job_config: config } = scheduled;
  switch (entityType) {
    case 'events':
      return { header: EVENT_COLUMNS, pages: eventPages(needs, occasion, window) };
    case 'invoice':
      return { header: INVOICE_COLUMNS, pages: invoicePages(needs, occasion, window) };
    case 'credit_topups':
      return { header: TOP_UP_COLUMNS, pages: topUpPages(needs, occasion, window) };
    case 'credit_usage': {
      const fields = config.export_metadata_fields;
      const names = fields.map(({ column_name: name }) => name);
      return {
        header: [...CREDIT_USAGE_COLUMNS, ...names],
        pages: creditUsagePages(needs, occasion, fields),
      };
    }
    case 'usage_analytics':
      throw new TypeError('no task exports usage_analytics yet');
  }
}
