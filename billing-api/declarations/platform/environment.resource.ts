import { oneOf, text } from '../../records/columns.js';
import type { DateTime, ListDto, RecordStatusDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const ENVIRONMENTS = defineResource({
  name: 'environment',
  idPrefix: 'env',
  table: 'environments',
  scope: 'tenant',
  columns: { name: text, type: oneOf(['development', 'production']) },
  removal: 'archived',
});
export type EnvironmentRow = RecordOf<typeof ENVIRONMENTS>;

export type EnvironmentType = 'development' | 'production';

/** A data space of its own: nothing in it is seen from another environment. */
export interface EnvironmentDto {
  id: string;
  tenant_id: string;
  name: string;
  type: EnvironmentType;
  status: RecordStatusDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export interface EnvironmentListDto extends ListDto<EnvironmentDto> {}

/** @example {"name": "Staging", "type": "development"} */
export interface CreateEnvironmentBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  type: EnvironmentType;
}

/** @example {"name": "Staging, Europe"} */
export interface ChangeEnvironmentBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
}

export function environmentToDto(row: EnvironmentRow): EnvironmentDto {
  const { id, tenant_id, name, type, status, ...rest } = recordToDto(ENVIRONMENTS, row);
  const { created_at, created_by, updated_at, updated_by } = rest;
  return { id, tenant_id, name, type, status, created_at, created_by, updated_at, updated_by };
}
