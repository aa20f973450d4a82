import type { DateTime, MetadataDto, RecordStatusDto } from './record-dto.js';

/*
 * Resources that cannot be created yet. Other records have members for them, which are null or
 * empty until then. The shapes are those of the specification, so that a client written today keeps
 * working.
 */

interface AuditedDto {
  id: string;
  metadata: MetadataDto;
  status: RecordStatusDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export interface PhaseDto extends AuditedDto {
  subscription_id: string;
  start_date: DateTime;
  end_date: DateTime | null;
}
