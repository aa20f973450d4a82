import { z } from 'zod';
import { instantColumn } from '../../sql/columns.js';
import { textKeyed } from './columns.js';

export const recordStatus = z.enum(['published', 'deleted', 'archived']);

const metadataColumn = textKeyed(z.union([z.string(), z.number(), z.boolean()]));

/** Columns that every record has (specification, Conventions). */
export const recordColumns = {
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
  status: recordStatus,
  metadata: metadataColumn,
  created_at: instantColumn,
  created_by: z.string().nullable(),
  updated_at: instantColumn,
  updated_by: z.string().nullable(),
};
