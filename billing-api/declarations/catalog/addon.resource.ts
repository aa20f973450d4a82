import { recordVersion } from '../../records/columns.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import {
  changeable,
  nameText,
  optional,
  plainText,
  required,
} from '../../records/standard/members.js';
import type { AddonDto } from '../../generated/standard/addon-types.js';

export const ADDONS = defineResource({
  name: 'addon',
  idPrefix: 'addon',
  table: 'addons',
  columns: {
    name: changeable(required(nameText({ max: 255 }))),
    description: changeable(optional(plainText({ maxLength: 10_000 }))),
    lookup_key: required(plainText({ minLength: 1, maxLength: 255 })),
    version: recordVersion,
  },
  unique: { addons_lookup_key: 'lookup_key' },
  removal: 'archived',
});
export type AddonRow = RecordOf<typeof ADDONS>;

/** An addon without its expandable members. */
export function addonToDto(row: AddonRow): AddonDto {
  return recordToDto(ADDONS, row);
}
