import type { Interval } from '../../../contract/instant.js';
import type { ScheduledTaskRow } from '../../declarations/exports/scheduled-task.resource.js';
import type { CountedWindow } from '../../declarations/exports/task.resource.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { eventPages, EVENT_COLUMNS } from './event-rows.js';
import type { ExportedFile, ExportNeeds } from './export-needs.js';
import {
  creditUsagePages,
  CREDIT_USAGE_COLUMNS,
  invoicePages,
  INVOICE_COLUMNS,
  INVOICE_SUMS,
  topUpPages,
  TOP_UP_COLUMNS,
} from './money-rows.js';
import { USAGE_COLUMNS } from './usage-row.js';
import { usagePages } from './usage-rows.js';

/** What a scheduled task exports of a window (docs/domain.md 33.6). */
export function exportedFile(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  {
    scheduled,
    window,
    counted,
  }: {
    readonly scheduled: ScheduledTaskRow;
    readonly window: Interval;
    readonly counted: CountedWindow;
  },
): ExportedFile {
  const { entity_type: entityType, job_config: config } = scheduled;
  const fields = config.export_metadata_fields;
  const names = fields.map(({ column_name: name }) => name);
  switch (entityType) {
    case 'events':
      return {
        header: EVENT_COLUMNS,
        pages: eventPages(needs, occasion, window),
        told: { since: 'timestamp' },
      };
    case 'invoice':
      return {
        header: INVOICE_COLUMNS,
        pages: invoicePages(needs, occasion, { window, counted }),
        told: { amounts: INVOICE_SUMS, since: 'created_at' },
      };
    case 'credit_topups':
      return {
        header: TOP_UP_COLUMNS,
        pages: topUpPages(needs, occasion, { window, counted }),
        told: { counts: ['amount'], since: 'created_at' },
      };
    case 'credit_usage':
      return {
        header: [...CREDIT_USAGE_COLUMNS, ...names],
        pages: creditUsagePages(needs, occasion, fields),
        told: { counts: ['number_of_wallets'], since: null },
      };
    case 'usage_analytics':
      return {
        header: [...USAGE_COLUMNS, ...names],
        pages: usagePages(needs, occasion, { window, counted, fields }),
        told: { counts: ['event_count'], amounts: ['total_cost'], since: 'start_time' },
      };
  }
}
