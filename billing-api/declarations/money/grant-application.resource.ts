import { GRANT_APPLICATION } from '../../domain/lifecycle/money-lifecycle.js';
import { instant, integer, nullable, oneOf, text } from '../../records/columns.js';
import { defineResource, type RecordOf } from '../../records/resource.js';

/** One application of a credit grant (docs/domain.md 21). */
export const GRANT_APPLICATIONS = defineResource({
  name: 'grant application',
  idPrefix: 'cga',
  table: 'grant_applications',
  columns: {
    credit_grant_id: text,
    subscription_id: text,
    sequence: integer,
    scheduled_for: instant,
    application_status: oneOf(GRANT_APPLICATION.states),
    wallet_transaction_id: nullable(text),
  },
  removal: null,
  lifecycle: { column: 'application_status', of: GRANT_APPLICATION },
});
export type GrantApplicationRow = RecordOf<typeof GRANT_APPLICATIONS>;
