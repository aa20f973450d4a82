import { nullable, recordVersion, text } from '../../records/columns.js';
import type { MetadataDto, RecordDto, SearchBody } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const ADDONS = defineResource({
  name: 'addon',
  idPrefix: 'addon',
  table: 'addons',
  columns: {
    name: text,
    description: nullable(text),
    lookup_key: text,
    version: recordVersion,
  },
  unique: { addons_lookup_key: 'lookup_key' },
  removal: 'archived',
});
export type AddonRow = RecordOf<typeof ADDONS>;

/** An addon without its expandable members. */
export interface AddonDto extends RecordDto {
  name: string;
  description: string | null;
  lookup_key: string;
}

export function addonToDto(row: AddonRow): AddonDto {
  return recordToDto(ADDONS, row);
}

/** @example {"name": "Extra storage", "lookup_key": "extra-storage"} */
export interface CreateAddonBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** @minLength 1 @maxLength 255 */
  lookup_key: string;
  /** @maxLength 10000 */
  description?: string;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed.
 * @example {"name": "Extra storage, 100 GB"}
 */
export interface ChangeAddonBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Null clears it. @maxLength 10000 */
  description?: string | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

export interface SearchAddonsBody extends SearchBody {
  /** @maxItems 1000 */
  addon_ids?: string[];
  /** @maxItems 1000 */
  lookup_keys?: string[];
}
